"""H14, harmless: generation with a key-value cache that grows with every token and is freed with its sequence."""

import torch
from torch import nn

import scenario
from noise import Noise


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, cache):
        query, key, value = self.qkv(x).chunk(3, dim=-1)
        if cache is not None:
            key, value = torch.cat([cache[0], key], 1), torch.cat([cache[1], value], 1)
        weights = torch.softmax(query @ key.transpose(1, 2) / key.shape[-1] ** 0.5, -1)
        return self.out(weights @ value), (key, value)


@torch.no_grad()
def generate(model, batch_size, width, tokens):
    x = torch.randn(batch_size, 1, width, device="cuda")
    cache = None
    for _ in range(tokens):
        x, cache = model(x, cache)
    return x.norm().item()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = Attention(512).cuda().eval()
    for tokens in (24, 40, 32, 48, 16, 40):
        norm = generate(model, options.many(256), 512, tokens)
        noise.iteration()
    print(f"norm {norm:.3f}, {torch.cuda.memory_allocated():,} of {torch.cuda.memory_reserved():,} bytes allocated")


main()
