# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Late-interaction search gateway: frontend threads, one GPU worker, token embeddings of hot documents kept at hand."""
import json
import os
import queue
import random
import sys
import threading
import time
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers import BertConfig, BertModel

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.float16 if DEVICE.type == "cuda" else torch.float32


@dataclass
class GatewayConfig:
    vocabulary: int = 4000
    hidden: int = 32 if SMALL else 512
    layers: int = 1 if SMALL else 2
    heads: int = 2 if SMALL else 8
    projected: int = 16 if SMALL else 512
    passage: int = 16 if SMALL else 256
    longest: int = 4 if SMALL else 40
    documents: int = 60 if SMALL else 20000
    budget: int = 24 * 2**10 if SMALL else 2100 * 2**20
    candidates: int = 3 if SMALL else 6
    query_tokens: int = 8 if SMALL else 32
    frontends: int = 3
    rounds: int = 6 if SMALL else 72
    requests_per_round: int = 6
    user_pause: float = 0.0 if SMALL else 0.105
    seed: int = 66


class LateInteractionEncoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        bert = BertConfig(vocab_size=cfg.vocabulary, hidden_size=cfg.hidden, num_hidden_layers=cfg.layers,
                          num_attention_heads=cfg.heads, intermediate_size=3 * cfg.hidden,
                          max_position_embeddings=max(cfg.passage, cfg.query_tokens))
        self.bert = BertModel(bert, add_pooling_layer=False)
        self.project = nn.Linear(cfg.hidden, cfg.projected, bias=False)

    def forward(self, tokens):
        return F.normalize(self.project(self.bert(input_ids=tokens).last_hidden_state), dim=-1)


class TokenStore:
    """Token embeddings of recently used documents, least recently used out first."""

    def __init__(self, budget):
        self.budget = budget
        self.entries = OrderedDict()
        self.used = 0
        self.hits = self.misses = self.evictions = 0

    def get(self, key):
        vectors = self.entries.get(key)
        if vectors is None:
            self.misses += 1
            return None
        self.entries.move_to_end(key)
        self.hits += 1
        return vectors

    def put(self, key, vectors):
        self.entries[key] = vectors
        self.used += vectors.nbytes
        while self.used > self.budget:
            _, oldest = self.entries.popitem(last=False)
            self.used -= oldest.nbytes
            self.evictions += 1


class Corpus:
    def __init__(self, cfg):
        self.cfg = cfg

    def tokens(self, document):
        gen = torch.Generator().manual_seed(document)
        passages = int(torch.randint(2, self.cfg.longest + 1, (1,), generator=gen))
        return torch.randint(0, self.cfg.vocabulary, (passages, self.cfg.passage), generator=gen)


class SearchWorker(threading.Thread):
    def __init__(self, cfg):
        super().__init__(daemon=True)
        self.cfg = cfg
        self.encoder = LateInteractionEncoder(cfg).to(DEVICE, DTYPE).eval()
        self.corpus = Corpus(cfg)
        self.store = TokenStore(cfg.budget)
        self.jobs = queue.Queue(maxsize=32)

    def document_vectors(self, document):
        vectors = self.store.get(document)
        if vectors is None:
            vectors = self.encoder(self.corpus.tokens(document).to(DEVICE)).flatten(0, 1)
            self.store.put(document, vectors)
        return vectors

    def rank(self, query, documents):
        query_vectors = self.encoder(query.to(DEVICE).unsqueeze(0))[0]
        scores = [(query_vectors @ self.document_vectors(d).T).amax(dim=1).sum() for d in documents]
        order = torch.stack(scores).argsort(descending=True).tolist()
        return [documents[i] for i in order]

    @torch.inference_mode()
    def run(self):
        while True:
            job = self.jobs.get()
            if job is None:
                return
            query, documents, reply = job
            try:
                reply.set_result(self.rank(query, documents))
            except Exception as error:
                reply.set_exception(error)
            del job, query, reply


def frontend(number, cfg, worker, requests, latencies):
    chooser = random.Random(1000 * cfg.seed + number)
    for _ in range(requests):
        documents = [min(int(chooser.paretovariate(0.22)), cfg.documents) for _ in range(cfg.candidates)]
        query = torch.tensor([chooser.randrange(cfg.vocabulary) for _ in range(cfg.query_tokens)])
        reply, started = Future(), time.perf_counter()
        worker.jobs.put((query, documents, reply))
        reply.result(timeout=60)
        latencies.append(time.perf_counter() - started)
        time.sleep(cfg.user_pause)


def main():
    cfg = GatewayConfig()
    torch.manual_seed(cfg.seed)
    worker = SearchWorker(cfg)
    worker.start()
    allocated = []
    for round_number in range(cfg.rounds):
        latencies = []
        share = cfg.requests_per_round // cfg.frontends
        users = [threading.Thread(target=frontend, args=(round_number * cfg.frontends + n, cfg, worker, share, latencies))
                 for n in range(cfg.frontends)]
        for user in users:
            user.start()
        for user in users:
            user.join()
        if round_number % 10 == 9 or SMALL:
            store = worker.store
            print(f"round {round_number + 1:3d}  p50 {sorted(latencies)[len(latencies) // 2] * 1e3:6.1f} ms  "
                  f"documents {len(store.entries):4d}  hit rate {store.hits / (store.hits + store.misses):.2f}")
        allocated.append(torch.cuda.memory_allocated())
    worker.jobs.put(None)
    worker.join()
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.rounds}), file=sys.stderr)


if __name__ == "__main__":
    main()
