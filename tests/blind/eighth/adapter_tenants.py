# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Multi-tenant text generation: one base model, one LoRA adapter per tenant and revision."""
import itertools
import logging
import os
import random
import tempfile
import time
from collections import OrderedDict

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
logger = logging.getLogger("serve")

SETTINGS = dict(
    hidden=64 if TINY else 2048, layers=2 if TINY else 20, heads=4 if TINY else 16,
    inter=128 if TINY else 5504, vocab=256 if TINY else 32000, rank=8,
    prompt_len=8 if TINY else 256, batch=2 if TINY else 8, new_tokens=2 if TINY else 8,
    requests=66 if TINY else 80, publish_every=5, max_resident=4, budget_s=16.0,
)


def build_base(s):
    cfg = LlamaConfig(hidden_size=s["hidden"], intermediate_size=s["inter"], num_hidden_layers=s["layers"],
                      num_attention_heads=s["heads"], num_key_value_heads=s["heads"], vocab_size=s["vocab"],
                      max_position_embeddings=2048, bos_token_id=1, eos_token_id=2, pad_token_id=0)
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(DEVICE):
            model = LlamaForCausalLM(cfg)
    finally:
        torch.set_default_dtype(default)
    return model.eval()


class AdapterManager:
    """Keeps the most recently used adapters at hand, drops the least recently used one."""

    def __init__(self, base, store, rank, max_resident):
        self.store = store
        self.max_resident = max_resident
        cfg = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=["q_proj", "v_proj"], lora_dropout=0.0,
                         task_type="CAUSAL_LM")
        self.model = get_peft_model(base, cfg, adapter_name="base-lora")
        self.model.eval()
        self.resident = OrderedDict()
        self.loads = 0
        self.template = os.path.join(store, "template")
        self.model.save_pretrained(self.template, selected_adapters=["base-lora"])

    def path_of(self, key):
        return os.path.join(self.template, "base-lora")

    def activate(self, key):
        if key in self.resident:
            self.resident.move_to_end(key)
        else:
            self.model.load_adapter(self.path_of(key), adapter_name=key, is_trainable=False)
            self.resident[key] = time.time()
            self.loads += 1
            while len(self.resident) > self.max_resident:
                old, since = self.resident.popitem(last=False)
                logger.info("evicted %s after %.1fs", old, time.time() - since)
        self.model.set_adapter(key)


class Server:
    def __init__(self, s, store):
        self.s = s
        self.adapters = AdapterManager(build_base(s), store, s["rank"], s["max_resident"])
        self.revision = {t: 1 for t in ("acme", "globex", "initech")}
        self.latency = []

    def publish(self, tenant):
        self.revision[tenant] += 1
        logger.info("tenant %s published revision %d", tenant, self.revision[tenant])

    @torch.inference_mode()
    def handle(self, tenant, prompt_ids):
        t = time.time()
        self.adapters.activate(f"{tenant}-r{self.revision[tenant]}")
        ids = prompt_ids.to(DEVICE)
        out = self.adapters.model.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False,
            max_new_tokens=self.s["new_tokens"], min_new_tokens=self.s["new_tokens"], use_cache=True)
        answer = out[:, ids.shape[1]:].cpu().tolist()
        self.latency.append(time.time() - t)
        return answer


def main():
    torch.manual_seed(11)
    rng = random.Random(11)
    start = time.time()
    with tempfile.TemporaryDirectory() as store:
        server = Server(SETTINGS, store)
        logger.info("base model ready: %.0fM parameters",
                    sum(p.numel() for p in server.adapters.model.parameters()) / 1e6)
        tenants = itertools.cycle(sorted(server.revision))
        for i in range(SETTINGS["requests"]):
            if i and i % SETTINGS["publish_every"] == 0:
                server.publish(next(tenants))
            tenant = rng.choice(sorted(server.revision))
            prompt = torch.randint(3, SETTINGS["vocab"], (SETTINGS["batch"], SETTINGS["prompt_len"]))
            server.handle(tenant, prompt)
            if i % 10 == 0:
                logger.info("request %d adapters resident %d loads %d latency %.3fs", i,
                            len(server.adapters.resident), server.adapters.loads, server.latency[-1])
            if time.time() - start > SETTINGS["budget_s"]:
                break
    mean = sum(server.latency) / len(server.latency)
    logger.info("served %d requests, mean latency %.3fs", len(server.latency), mean)


if __name__ == "__main__":
    main()
