# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Captures a training step in a CUDA graph and replays it, beside make_graphed_callables."""

import torch
from digest import digest
from torch import nn

model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = torch.randn(16, 64, device="cuda")


def train():
    optimizer.zero_grad(set_to_none=True)
    loss = model(data).square().mean()
    loss.backward()
    optimizer.step()
    return loss


stream = torch.cuda.Stream()
stream.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(stream):
    for _ in range(5):
        train()
torch.cuda.current_stream().wait_stream(stream)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    captured = train()
losses = []
for _ in range(30):
    data.copy_(torch.randn(16, 64, device="cuda"))
    graph.replay()
    losses.append(captured.item())

head = nn.Linear(64, 8).cuda()
graphed = torch.cuda.make_graphed_callables(head, (torch.randn(16, 64, device="cuda", requires_grad=True),))
for _ in range(10):
    graphed(torch.randn(16, 64, device="cuda", requires_grad=True)).sum().backward()
print(digest(model, losses, head.weight.grad))
