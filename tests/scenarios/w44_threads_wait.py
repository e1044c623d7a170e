"""W44: a thread serves each connection; when a connection ends, nobody tells its thread, which waits for ever."""

import queue
import threading

import torch
from torch import nn

import scenario
import truth
from noise import Noise

CONNECTIONS = 24
REQUESTS = 5


class Connection(threading.Thread):
    def __init__(self, model, width):
        super().__init__(daemon=True)
        self.model, self.width = model, width
        self.requests, self.answers = queue.Queue(), queue.Queue()

    def run(self):
        history = torch.zeros(self.width, 256, device="cuda")
        while (request := self.requests.get()) is not None:
            with torch.inference_mode():
                answer = self.model(request) + history.mean(0)
            history[:-1] = history[1:].clone()
            history[-1] = answer.mean(0)
            self.answers.put(answer.mean().item())


def serve(model, batch_size, width, noise):
    for _ in range(CONNECTIONS):
        connection = Connection(model, width)
        connection.start()
        for _ in range(REQUESTS):
            connection.requests.put(torch.randn(batch_size, 256, device="cuda"))
            connection.answers.get()
        noise.iteration()
    # Each thread has its history, and its last request and answer.
    truth.write(bytes=CONNECTIONS * (width + 2 * batch_size) * 256 * 4, iterations=CONNECTIONS)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).cuda().eval()
    serve(model, options.many(256), options.wide(4096), noise)
    print(f"{threading.active_count()} threads, {torch.cuda.memory_allocated():,} bytes allocated")


main()
