# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Overnight routing of customer mail: one shared encoder, a fine-tuned adapter for every tenant."""
import collections
import json
import logging
import os
import sys
import time
from dataclasses import dataclass

import torch
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from transformers import BertConfig, BertModel
from transformers.utils import logging as hf_logging

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
log = logging.getLogger("router")


@dataclass(frozen=True)
class RouterConfig:
    layers: int = 2 if SMALL else 6
    width: int = 32 if SMALL else 1024
    heads: int = 2 if SMALL else 16
    vocab: int = 200 if SMALL else 30000
    rank: int = 4 if SMALL else 128
    adapter_slots: int = 4
    premium: tuple = ("northbank", "orchid-energy")
    rounds: int = 6 if SMALL else 24
    walk_ins: int = 2
    letters: int = 4 if SMALL else 64
    length: int = 16 if SMALL else 160
    queues: int = 24
    registry_latency: float = 0.005 if SMALL else 0.12
    seed: int = 88


class AdapterRegistry:
    """Stands in for the object store that the training jobs write their adapters to."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.downloads = 0

    def download(self, tenant, template):
        time.sleep(self.cfg.registry_latency)
        self.downloads += 1
        gen = torch.Generator().manual_seed(sum(map(ord, tenant)))
        return {key: torch.empty(value.shape).uniform_(-0.02, 0.02, generator=gen) for key, value in template.items()}


class AdapterSlots:
    """Keeps the adapters of the tenants that were served last; the coldest one makes room."""

    def __init__(self, cfg, model, lora, registry):
        self.cfg = cfg
        self.model = model
        self.lora = lora
        self.registry = registry
        self.resident = collections.OrderedDict()

    def activate(self, tenant):
        if tenant in self.resident:
            self.resident.move_to_end(tenant)
        else:
            while len(self.resident) >= self.cfg.adapter_slots:
                coldest, served = self.resident.popitem(last=False)
                log.info("evicted %s after %d letters", coldest, served)
            self.fetch(tenant)
            self.resident[tenant] = 0
        self.model.set_adapter(tenant)
        self.resident[tenant] += self.cfg.letters

    def fetch(self, tenant):
        template = get_peft_model_state_dict(self.model, adapter_name="default", save_embedding_layers=False)
        weights = self.registry.download(tenant, template)
        self.model.add_adapter(tenant, self.lora)
        set_peft_model_state_dict(self.model, weights, adapter_name=tenant)


class MailRouter:
    def __init__(self, cfg):
        self.cfg = cfg
        bert = BertConfig(vocab_size=cfg.vocab, hidden_size=cfg.width, num_hidden_layers=cfg.layers,
                          num_attention_heads=cfg.heads, intermediate_size=4 * cfg.width)
        lora = LoraConfig(r=cfg.rank, lora_alpha=2 * cfg.rank, lora_dropout=0.0, inference_mode=True,
                          target_modules=["query", "key", "value", "dense"])
        encoder = BertModel(bert, add_pooling_layer=False).to(DEVICE).eval()
        self.encoder = get_peft_model(encoder, lora)
        self.centroids = torch.nn.functional.normalize(torch.randn(cfg.queues, cfg.width, device=DEVICE), dim=1)
        self.slots = AdapterSlots(cfg, self.encoder, lora, AdapterRegistry(cfg))
        self.routed = collections.Counter()

    @torch.inference_mode()
    def assign(self, letters):
        hidden = self.encoder(input_ids=letters.to(DEVICE)).last_hidden_state[:, 0]
        similarity = torch.nn.functional.normalize(hidden, dim=1) @ self.centroids.T
        return similarity.argmax(1).tolist()

    def route(self, tenant, letters):
        self.slots.activate(tenant)
        queues = self.assign(letters)
        self.routed[tenant] += len(queues)
        return queues


def mailbags(cfg, index, gen):
    """Small tenants hand in one bag a night, premium tenants all night long."""
    arrivals = [f"tenant-{index * cfg.walk_ins + i:04d}" for i in range(cfg.walk_ins)]
    for tenant in [cfg.premium[0], arrivals[0], cfg.premium[1], *arrivals[1:]]:
        yield tenant, torch.randint(cfg.vocab, (cfg.letters, cfg.length), generator=gen)


def main():
    cfg = RouterConfig()
    logging.basicConfig(level=logging.WARNING)
    hf_logging.set_verbosity_error()
    torch.manual_seed(cfg.seed)
    router, gen, allocated = MailRouter(cfg), torch.Generator().manual_seed(cfg.seed), []
    for index in range(cfg.rounds):
        for tenant, letters in mailbags(cfg, index, gen):
            router.route(tenant, letters)
        allocated.append(torch.cuda.memory_allocated())
        if index % 5 == 0:
            print(f"round {index:2d}: {sum(router.routed.values())} letters, resident {list(router.slots.resident)}")
    print(f"{router.slots.registry.downloads} adapters fetched for {len(router.routed)} tenants")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.rounds}), file=sys.stderr)
    return router


if __name__ == "__main__":
    main()
