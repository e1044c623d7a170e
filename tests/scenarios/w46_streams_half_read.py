"""W46: an answer is streamed by a generator, and the client of many an answer stops to read before its end."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

REQUESTS = 40
TOKENS = 12


class Server:
    def __init__(self, model, width):
        self.model, self.width = model, width
        self.open_answers = []

    def tokens(self, prompt):
        """Yields one token after the other; the cache of the conversation is a variable of the generator."""
        cache = torch.zeros(TOKENS, self.width, 256, device="cuda")
        for position in range(TOKENS):
            with torch.inference_mode():
                cache[position] = self.model(prompt)
            yield cache[: position + 1].mean().item()

    def answer(self, prompt, reads):
        """Reads the first tokens for a client, who may come back for the rest."""
        stream = self.tokens(prompt)
        self.open_answers.append(stream)
        return [next(stream) for _ in range(reads)]


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).cuda().eval()
    server = Server(model, options.many(256))
    for _ in range(REQUESTS):
        server.answer(torch.randn(server.width, 256, device="cuda"), 4)
        noise.iteration()
    cache, prompt = TOKENS * server.width * 256 * 4, server.width * 256 * 4
    truth.write(bytes=REQUESTS * (cache + prompt), iterations=REQUESTS)
    print(f"{len(server.open_answers)} open answers, {torch.cuda.memory_allocated():,} bytes allocated")


main()
