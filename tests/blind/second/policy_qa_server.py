# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Question answering over insurance policies; the keys and values of a policy text are reused between questions."""
import collections
import json
import os
import queue
import sys
import threading
import time
from concurrent.futures import Future

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.bfloat16 if DEVICE.type == "cuda" else torch.float32

VOCAB, WIDTH, LAYERS, HEADS = (128, 32, 2, 2) if SMALL else (32000, 1024, 16, 8)
POLICIES = 24 if SMALL else 240
POLICY_TOKENS = (16, 32) if SMALL else (256, 1024)
QUESTION_TOKENS = 6 if SMALL else 32
CACHE_BYTES = 120_000 if SMALL else 3 * 2**30
TICKS = 12 if SMALL else 60
QUESTIONS_PER_TICK = 4
STORE_LATENCY = 0.001 if SMALL else 0.05


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.norm_f = nn.RMSNorm(WIDTH)
        self.gate_up = nn.Linear(WIDTH, 6 * WIDTH, bias=False)
        self.down = nn.Linear(3 * WIDTH, WIDTH, bias=False)

    def forward(self, x, past):
        n = x.shape[0]
        q, k, v = self.qkv(self.norm(x)).view(n, 3, HEADS, -1).permute(1, 2, 0, 3)
        if past is None:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            keys, values = torch.cat([past[0], k], 1), torch.cat([past[1], v], 1)
            seen = torch.ones(n, keys.shape[1], dtype=torch.bool, device=x.device).tril(keys.shape[1] - n)
            mixed = F.scaled_dot_product_attention(q, keys, values, attn_mask=seen)
        x = x + self.out(mixed.transpose(0, 1).reshape(n, WIDTH))
        gate, up = self.gate_up(self.norm_f(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up), torch.stack([k, v])


class PolicyReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCAB, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.verdict = nn.Linear(WIDTH, 3)

    def forward(self, tokens, past=None):
        x, fresh = self.words(tokens), []
        for i, block in enumerate(self.blocks):
            x, kv = block(x, None if past is None else past[i])
            fresh.append(kv)
        return self.verdict(x[-1]), torch.stack(fresh)


class PrefixCache:
    """Least recently used policies go first once the byte budget is spent."""

    def __init__(self, budget):
        self.budget = budget
        self.used = 0
        self.entries = collections.OrderedDict()
        self.hits = self.misses = self.evictions = 0

    def get(self, policy):
        entry = self.entries.get(policy)
        if entry is None:
            self.misses += 1
            return None
        self.hits += 1
        self.entries.move_to_end(policy)
        return entry

    def put(self, policy, kv):
        while self.entries and self.used + kv.nbytes > self.budget:
            _, oldest = self.entries.popitem(last=False)
            self.used -= oldest.nbytes
            self.evictions += 1
        self.entries[policy] = kv
        self.used += kv.nbytes


class AnswerThread(threading.Thread):
    def __init__(self, reader, cache):
        super().__init__(name="answers", daemon=True)
        self.reader, self.cache = reader, cache
        self.inbox = queue.Queue(maxsize=16)

    def run(self):
        with torch.inference_mode():
            while (job := self.inbox.get()) is not None:
                policy, question, reply = job
                try:
                    reply.set_result(self.answer(policy, question))
                except Exception as error:
                    reply.set_exception(error)
                del job, reply

    def answer(self, policy, question):
        prefix = self.cache.get(policy)
        if prefix is None:
            time.sleep(STORE_LATENCY)
            gen = torch.Generator().manual_seed(policy)
            low, high = POLICY_TOKENS
            length = low + 16 * (policy * 7 % ((high - low) // 16 + 1))
            _, prefix = self.reader(torch.randint(VOCAB, (length,), generator=gen).to(DEVICE))
            self.cache.put(policy, prefix)
        verdict, _ = self.reader(question.to(DEVICE), prefix)
        return ("covered", "excluded", "ask a clerk")[verdict.argmax().item()]

    def ask(self, policy, question):
        reply = Future()
        self.inbox.put((policy, question, reply))
        return reply


def main():
    torch.manual_seed(5)
    cache = PrefixCache(CACHE_BYTES)
    service = AnswerThread(PolicyReader().to(DEVICE, DTYPE).eval(), cache)
    service.start()
    gen, tally, allocated = torch.Generator().manual_seed(6), collections.Counter(), []
    for tick in range(TICKS):
        replies = []
        for _ in range(QUESTIONS_PER_TICK):
            policy = int(POLICIES * torch.rand((), generator=gen).item() ** 1.6)
            replies.append(service.ask(policy, torch.randint(VOCAB, (QUESTION_TOKENS,), generator=gen)))
        tally.update(reply.result() for reply in replies)
        time.sleep(STORE_LATENCY)
        allocated.append(torch.cuda.memory_allocated())
        if tick % 6 == 0:
            print(f"tick {tick:2d} {dict(tally)} cache {cache.used / 2**20:.1f} MiB in {len(cache.entries)} policies, "
                  f"hits {cache.hits} misses {cache.misses} evictions {cache.evictions}", flush=True)
    service.inbox.put(None)
    service.join()
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": TICKS}), file=sys.stderr)
    return cache


if __name__ == "__main__":
    main()
