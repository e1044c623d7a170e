# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Semantic reranking service: sentence-transformers encoder with a cache of query vectors."""
import json
import logging
import os
import random
import tempfile
import time
from collections import OrderedDict

import torch
from sentence_transformers import SentenceTransformer, models, util
from transformers import BertConfig, BertModel, BertTokenizerFast

DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
log = logging.getLogger("rerank")

WORDS = [f"term{i}" for i in range(400 if TINY else 4000)]
N_PASSAGES = 8 if TINY else 96
PASSAGE_WORDS = 8 if TINY else 120
REQUESTS = 80 if TINY else 320
TIME_LIMIT = 16.0


def build_encoder(folder):
    """Encoder with the in-house vocabulary. Weights come from the trainer in production."""
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + WORDS
    with open(os.path.join(folder, "vocab.txt"), "w") as f:
        f.write("\n".join(vocab))
    BertTokenizerFast(os.path.join(folder, "vocab.txt")).save_pretrained(folder)
    cfg = BertConfig(vocab_size=len(vocab), hidden_size=64 if TINY else 1024, num_hidden_layers=2 if TINY else 12,
                     num_attention_heads=2 if TINY else 16, intermediate_size=128 if TINY else 4096)
    BertModel(cfg).save_pretrained(folder)
    word = models.Transformer(folder, max_seq_length=128)
    pool = models.Pooling(cfg.hidden_size, pooling_mode="mean")
    return SentenceTransformer(modules=[word, pool], device=DEVICE)


class QueryCache:
    """LRU cache, so popular queries are not encoded again."""

    def __init__(self, max_entries=20000):
        self.max_entries = max_entries
        self.entries = OrderedDict()
        self.hits = self.misses = 0

    def get(self, query):
        vec = self.entries.get(query)
        if vec is None:
            self.misses += 1
            return None
        self.entries.move_to_end(query)
        self.hits += 1
        return vec

    def put(self, query, vec):
        self.entries[query] = vec
        if len(self.entries) > self.max_entries:
            self.entries.popitem(last=False)


class Reranker:
    def __init__(self, encoder):
        self.encoder = encoder
        self.cache = QueryCache()
        self.seconds = 0.0

    def encode(self, texts):
        return self.encoder.encode(texts, batch_size=128, convert_to_tensor=True, normalize_embeddings=True,
                                   show_progress_bar=False)

    def rerank(self, query, passages, top_k=5):
        t = time.time()
        q = self.cache.get(query)
        if q is None:
            vectors = self.encode([query] + passages)
            q, docs = vectors[0], vectors[1:]
            self.cache.put(query, q)
        else:
            docs = self.encode(passages)
        scores = util.cos_sim(q, docs)[0]
        top = torch.topk(scores, k=min(top_k, len(passages)))
        self.seconds += time.time() - t
        return [(int(i), float(s)) for s, i in zip(top.values, top.indices)]


def traffic(n, seed):
    rng = random.Random(seed)
    seen = []
    for _ in range(n):
        if seen and rng.random() < 0.1:
            query = rng.choice(seen)
        else:
            query = " ".join(rng.choices(WORDS, k=6))
            seen.append(query)
        yield query, [" ".join(rng.choices(WORDS, k=rng.randint(PASSAGE_WORDS // 2, PASSAGE_WORDS)))
                      for _ in range(N_PASSAGES)]


def main():
    torch.manual_seed(23)
    start = time.time()
    with tempfile.TemporaryDirectory() as tmp:
        service = Reranker(build_encoder(tmp))
        log.info("encoder ready on %s", service.encoder.device)
        access_log = open(os.path.join(tmp, "access.jsonl"), "w")
        for i, (query, passages) in enumerate(traffic(REQUESTS, 23)):
            ranking = service.rerank(query, passages)
            access_log.write(json.dumps({"q": query, "top": ranking[0][0], "score": ranking[0][1]}) + "\n")
            if i % 40 == 0:
                log.info("request %d cache %d entries, %d hits, mean latency %.1f ms", i, len(service.cache.entries),
                         service.cache.hits, 1000 * service.seconds / (i + 1))
            if time.time() - start > TIME_LIMIT:
                break
        access_log.close()
    log.info("%d requests, hit rate %.2f", i + 1, service.cache.hits / (i + 1))


if __name__ == "__main__":
    main()
