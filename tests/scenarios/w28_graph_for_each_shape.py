"""W28: a CUDA graph is captured for each new batch size, each with its own private pool, and a dict retains
all."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


class Runner:
    def __init__(self, model):
        self.model = model
        self.graphs = {}
        self.pool_bytes = []

    @torch.no_grad()
    def capture(self, batch_size, width):
        inputs = torch.zeros(batch_size, width, device="cuda")
        warm_up = torch.cuda.Stream()
        warm_up.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(warm_up):
            self.model(inputs)
        torch.cuda.current_stream().wait_stream(warm_up)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            before = torch.cuda.memory_reserved()
            output = self.model(inputs)
            self.pool_bytes.append(torch.cuda.memory_reserved() - before)
        return graph, inputs, output

    def __call__(self, batch):
        if len(batch) not in self.graphs:
            self.graphs[len(batch)] = self.capture(*batch.shape)
        graph, inputs, output = self.graphs[len(batch)]
        inputs.copy_(batch)
        graph.replay()
        return output.clone()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = 512
    runner = Runner(nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)).cuda())
    for round_number in range(16):
        runner(torch.randn(options.many(1024) + 8 * round_number, width, device="cuda")).sum().item()
        noise.iteration()
    truth.write(bytes=sum(runner.pool_bytes), bytes_per_iteration=runner.pool_bytes[-1], iterations=16)
    print(f"{len(runner.graphs)} graphs, reserved {torch.cuda.memory_reserved():,} bytes")


main()
