# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Trains a graph network of torch_geometric."""

import torch
from digest import digest
from torch_geometric.nn import GraphConv

nodes = torch.randn(400, 16, device="cuda")
edges = torch.randint(0, 400, (2, 1600), device="cuda").sort(dim=1).values
labels = torch.randint(0, 3, (400,), device="cuda")
first, second = GraphConv(16, 32).cuda(), GraphConv(32, 3).cuda()
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()])
losses = []
for _ in range(30):
    loss = torch.nn.functional.cross_entropy(second(first(nodes, edges).relu(), edges), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())
print(digest(first, second, losses))
