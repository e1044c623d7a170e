"""H8, harmless: a cache of embeddings fills up in the first iterations; later each new entry replaces the oldest.

    python h08_cache_of_constant_size.py [--ring] [--size small|medium|large] [--noise]

With --ring it is a replay buffer: a deque with a maximum length.
"""

import collections

import torch
from torch import nn

import scenario
import truth
from noise import Noise

CAPACITY = 16


class EmbeddingCache:
    def __init__(self, capacity):
        self.capacity = capacity
        self.entries = collections.OrderedDict()

    def get(self, key, compute):
        if key in self.entries:
            self.entries.move_to_end(key)
            return self.entries[key]
        if len(self.entries) == self.capacity:
            self.entries.popitem(last=False)
        self.entries[key] = compute()
        return self.entries[key]


CACHE = EmbeddingCache(CAPACITY)


@torch.no_grad()
def answer_queries(encoder, batch_size, noise):
    for number in range(60):
        key = number if number % 3 else number // 3
        embedding = CACHE.get(key, lambda: encoder(torch.randn(batch_size, 256, device="cuda")))
        embedding.norm().item()
        noise.iteration()
    truth.write(bytes=truth.bytes_of(CACHE.entries.values()), iterations=60)
    return len(CACHE.entries)


@torch.no_grad()
def play(policy, batch_size, noise):
    replay_buffer = collections.deque(maxlen=CAPACITY)
    for _ in range(60):
        observations = torch.randn(batch_size, 256, device="cuda")
        replay_buffer.append((observations, policy(observations)))
        replay_buffer[0][1].mean().item()
        noise.iteration()
    truth.write(bytes=truth.bytes_of(tensor for pair in replay_buffer for tensor in pair), iterations=60)
    return len(replay_buffer)


def main():
    parser = scenario.parser(__doc__)
    parser.add_argument("--ring", action="store_true")
    options = scenario.parse(parser)
    noise = Noise(options.noise)
    run = play if options.ring else answer_queries
    entries = run(nn.Linear(256, 256).cuda(), options.many(2048), noise)
    print(f"{entries} entries, {torch.cuda.memory_allocated():,} bytes allocated")


main()
