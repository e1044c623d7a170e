# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Nightly personalisation: one LoRA adapter per customer on a shared language model."""
import argparse
import json
import math
import os
import sys
import tempfile
import time

import torch
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

SMALL = os.environ.get("SMALL") == "1"
CUDA = torch.cuda.is_available()


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, default=64 if SMALL else 3072)
    p.add_argument("--mlp", type=int, default=128 if SMALL else 8192)
    p.add_argument("--layers", type=int, default=2 if SMALL else 6)
    p.add_argument("--heads", type=int, default=4 if SMALL else 24)
    p.add_argument("--vocab", type=int, default=256 if SMALL else 16000)
    p.add_argument("--customers", type=int, default=5 if SMALL else 10)
    p.add_argument("--rank", type=int, default=4 if SMALL else 128)
    p.add_argument("--steps", type=int, default=2)
    p.add_argument("--batch", type=int, default=2 if SMALL else 4)
    p.add_argument("--length", type=int, default=16 if SMALL else 384)
    p.add_argument("--lr", type=float, default=3e-4)
    p.add_argument("--fetch-seconds", type=float, default=0.0 if SMALL else 0.35)
    return p.parse_args()


def shared_model(args, device):
    config = LlamaConfig(
        vocab_size=args.vocab, hidden_size=args.hidden, intermediate_size=args.mlp, num_hidden_layers=args.layers,
        num_attention_heads=args.heads, num_key_value_heads=args.heads, max_position_embeddings=1024, use_cache=False)
    with torch.device(device):
        model = LlamaForCausalLM(config)
    return model.to(torch.bfloat16 if CUDA else torch.float32)


def adapter_recipe(args):
    return LoraConfig(r=args.rank, lora_alpha=2 * args.rank, lora_dropout=0.0, task_type="CAUSAL_LM",
                      target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"])


class TicketHistory:
    """Support tickets of one customer, already tokenised, with the customer's own word statistics."""

    def __init__(self, customer, args):
        self.args = args
        self.gen = torch.Generator().manual_seed(500 + customer)
        self.weights = torch.rand(args.vocab, generator=self.gen) ** 4 + 1e-4

    def sample(self):
        time.sleep(self.args.fetch_seconds)
        count = self.args.batch * self.args.length
        tokens = torch.multinomial(self.weights, count, replacement=True, generator=self.gen)
        return tokens.view(self.args.batch, self.args.length)


class Personaliser:
    def __init__(self, args, outbox):
        self.args = args
        self.device = torch.device("cuda" if CUDA else "cpu")
        self.outbox = outbox
        base = shared_model(args, self.device)
        self.model = get_peft_model(base, adapter_recipe(args), adapter_name="house")
        self.model.eval()

    def perplexity(self, history):
        with torch.no_grad():
            tokens = history.sample().to(self.device)
            return math.exp(min(self.model(input_ids=tokens, labels=tokens).loss.item(), 20.0))

    def fit(self, customer):
        args = self.args
        name = f"customer_{customer:03d}"
        history = TicketHistory(customer, args)
        self.model.add_adapter(name, adapter_recipe(args))
        self.model.set_adapter(name)
        weights = [p for p in self.model.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(weights, lr=args.lr, betas=(0.9, 0.98))

        before = self.perplexity(history)
        self.model.train()
        for _ in range(args.steps):
            tokens = history.sample().to(self.device)
            loss = self.model(input_ids=tokens, labels=tokens).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.model.eval()
        after = self.perplexity(history)

        path = self.export(name)
        self.model.set_adapter("house")
        return {"customer": name, "before": round(before, 1), "after": round(after, 1), "file": os.path.basename(path)}

    def export(self, name):
        state = get_peft_model_state_dict(self.model, adapter_name=name)
        path = os.path.join(self.outbox, f"{name}.safetensors")
        save_file({k: v.detach().to("cpu", torch.bfloat16) for k, v in state.items()}, path)
        size = os.path.getsize(path)
        os.remove(path)
        print(f"  shipped {name}: {size / 2 ** 20:.1f} MiB")
        return path


def main():
    args = parse_args()
    torch.manual_seed(3)
    allocated = []
    with tempfile.TemporaryDirectory() as outbox:
        service = Personaliser(args, outbox)
        try:
            for customer in range(args.customers):
                print(json.dumps(service.fit(customer)))
                allocated.append(torch.cuda.memory_allocated())
        finally:
            print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
