"""W54: the dense adjacency matrix from which the edges were read stays on the GPU; the work uses only the edges."""

from dataclasses import dataclass

import torch
from torch import nn

import scenario
import truth
from noise import Noise

STEPS = 12


@dataclass
class Graph:
    adjacency: torch.Tensor
    edges: torch.Tensor
    features: torch.Tensor


def load(nodes):
    adjacency = torch.rand(nodes, nodes, device="cuda")
    edges = (adjacency > 0.999).nonzero().t()
    return Graph(adjacency, edges, torch.randn(nodes, 32, device="cuda"))


class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(32, 32)

    def forward(self, x, edges):
        messages = self.linear(x)[edges[0]]
        return torch.zeros_like(x).index_add_(0, edges[1], messages)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    nodes = options.many(4096)
    graph = load(nodes)
    model = Convolution().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(STEPS):
        loss = model(graph.features, graph.edges).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        noise.iteration()
    truth.write(bytes=truth.block(nodes * nodes * 4), iterations=STEPS)
    print(f"{graph.edges.shape[1]} edges, loss {loss.item():.4f}")


main()
