# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

# %% [markdown]
# # Few-shot protein family recognition
# Frozen encoder, one vector per protein, prototypical episodes on top.

# %% setup
import json
import os
import random
import sys
import time
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers import BertConfig, BertModel

SMALL = os.environ.get("SMALL") == "1"
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(23)
random.seed(23)

RESIDUES = "ACDEFGHIKLMNPQRSTVWY"
PAD, CLS, OFFSET = 0, 1, 2
max_len = 24 if SMALL else 384
n_families = 6 if SMALL else 120
per_family = 4 if SMALL else 24
batch_size = 8 if SMALL else 48
n_ways, n_shots, n_queries = (3, 1, 2) if SMALL else (20, 5, 10)
n_episodes = 8 if SMALL else 300
eval_every = 4 if SMALL else 50

# %% synthetic families: a motif per family, mutated and embedded at a random place
def make_family(rng):
    motif = [rng.choice(RESIDUES) for _ in range(max_len // 3)]
    members = []
    for _ in range(per_family):
        body = [r if rng.random() > 0.15 else rng.choice(RESIDUES) for r in motif]
        left = rng.randint(0, max_len // 3)
        right = rng.randint(max_len // 6, max_len - 2 - left - len(body))
        members.append("".join(rng.choice(RESIDUES) for _ in range(left)) + "".join(body)
                       + "".join(rng.choice(RESIDUES) for _ in range(right)))
    return members


rng = random.Random(7)
families = {f"PF{number:05d}": make_family(rng) for number in range(n_families)}
proteins = [(family, sequence) for family, members in families.items() for sequence in members]
random.shuffle(proteins)
print(len(proteins), "proteins, mean length", sum(len(s) for _, s in proteins) / len(proteins))

# %% encoder
config = BertConfig(vocab_size=len(RESIDUES) + OFFSET, hidden_size=32 if SMALL else 640,
                    num_hidden_layers=2 if SMALL else 6, num_attention_heads=2 if SMALL else 10,
                    intermediate_size=64 if SMALL else 2560, max_position_embeddings=max_len, pad_token_id=PAD)
encoder = BertModel(config, add_pooling_layer=False).to(device).eval()
encoder.requires_grad_(False)


def tokenize(sequences):
    ids = torch.full((len(sequences), max_len), PAD)
    for row, sequence in enumerate(sequences):
        tokens = [CLS] + [RESIDUES.index(r) + OFFSET for r in sequence[: max_len - 1]]
        ids[row, : len(tokens)] = torch.tensor(tokens)
    return ids.to(device), (ids != PAD).long().to(device)


# %% embed every protein once; the episodes below only touch the vectors
bank = defaultdict(list)
allocated = []
start = time.time()
for first in range(0, len(proteins), batch_size):
    chunk = proteins[first: first + batch_size]
    ids, attention = tokenize([sequence for _, sequence in chunk])
    with torch.inference_mode():
        states = encoder(input_ids=ids, attention_mask=attention).last_hidden_state
    for (family, _), vector in zip(chunk, states[:, 0]):
        bank[family].append(vector)
    allocated.append(torch.cuda.memory_allocated())
del ids, attention, states, vector
encoder.cpu()
print(f"{sum(len(v) for v in bank.values())} vectors of {config.hidden_size} in {time.time() - start:.1f} s")

# %% projection head and episodes
head = nn.Sequential(nn.Linear(config.hidden_size, 256), nn.GELU(), nn.Linear(256, 128)).to(device)
temperature = nn.Parameter(torch.tensor(10.0, device=device))
optimizer = torch.optim.AdamW([*head.parameters(), temperature], lr=1e-3)
names = sorted(bank)
train_names, test_names = names[: len(names) // 2], names[len(names) // 2:]


def episode(pool):
    chosen = random.sample(pool, min(n_ways, len(pool)))
    support, query = [], []
    for family in chosen:
        drawn = random.sample(bank[family], n_shots + min(n_queries, per_family - n_shots))
        support.append(torch.stack(drawn[:n_shots]))
        query.append(torch.stack(drawn[n_shots:]))
    labels = torch.arange(len(chosen), device=device).repeat_interleave(len(query[0]))
    return torch.stack(support).clone(), torch.cat(query).clone(), labels


def episode_logits(support, query):
    prototypes = F.normalize(head(support).mean(dim=1), dim=-1)
    return temperature * F.normalize(head(query), dim=-1) @ prototypes.T


history = []
for step in range(1, n_episodes + 1):
    time.sleep(0.03)
    support, query, labels = episode(train_names)
    loss = F.cross_entropy(episode_logits(support, query), labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    history.append(loss.item())
    if step % eval_every == 0:
        with torch.no_grad():
            hits = []
            for _ in range(5):
                support, query, labels = episode(test_names)
                hits.append((episode_logits(support, query).argmax(dim=1) == labels).float().mean().item())
        print(f"episode {step:4d} loss {sum(history[-eval_every:]) / eval_every:.4f} test {sum(hits) / len(hits):.3f}")
    allocated.append(torch.cuda.memory_allocated())

# %% summary
print(f"temperature {temperature.item():.2f}, best loss {min(history):.4f}, families {len(bank)}")
print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(proteins) // batch_size,
                             "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)
