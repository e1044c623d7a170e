# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Simulates federated training with SCAFFOLD on one accelerator.

A few clients take part in each round, drawn in shuffled passes over the whole population. A client corrects its local
gradients by the difference between the server's control variate and its own, which it carries from one participation
to the next. The model is a ResNet-18 with group normalisation, as usual when the clients' data differ.
"""

import json
import os
import random
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torchvision.models import resnet18

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class FederationConfig:
    clients: int = 6 if SMALL else 60
    clients_per_round: int = 1 if SMALL else 4
    rounds: int = 12 if SMALL else 30
    local_steps: int = 1 if SMALL else 8
    batch_size: int = 2 if SMALL else 64
    image_size: int = 32 if SMALL else 64
    classes: int = 20
    classes_per_client: int = 4
    local_lr: float = 0.02
    server_lr: float = 1.0


def device_memory() -> int:
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


def build_model(config: FederationConfig) -> nn.Module:
    network = resnet18(weights=None, num_classes=config.classes, norm_layer=lambda width: nn.GroupNorm(8, width))
    return network.to(DEVICE)


class ClientData:
    """Images of the few classes that one client has."""

    def __init__(self, config: FederationConfig, templates, client: int):
        self.config = config
        self.templates = templates
        self.generator = torch.Generator(device=DEVICE).manual_seed(client)
        self.classes = torch.tensor(
            random.Random(client).sample(range(config.classes), config.classes_per_client), device=DEVICE
        )

    def batch(self):
        picks = torch.randint(len(self.classes), (self.config.batch_size,), generator=self.generator, device=DEVICE)
        labels = self.classes[picks]
        images = self.templates[labels]
        return images + torch.randn(images.shape, generator=self.generator, device=DEVICE), labels


class ControlStore:
    """Control variates of the clients, kept between their participations."""

    def __init__(self, reference):
        self.reference = reference
        self.by_client = {}

    def of(self, client: int):
        if client not in self.by_client:
            self.by_client[client] = [torch.zeros_like(p) for p in self.reference]
        return self.by_client[client]


class Server:
    def __init__(self, config: FederationConfig):
        self.config = config
        self.worker = build_model(config)
        self.local = list(self.worker.parameters())
        self.weights = [p.detach().clone() for p in self.local]
        self.control = [torch.zeros_like(p) for p in self.weights]
        self.step_sum = [torch.zeros_like(p) for p in self.weights]
        self.control_sum = [torch.zeros_like(p) for p in self.weights]
        self.clients = ControlStore(self.weights)

    @torch.no_grad()
    def send_weights(self):
        torch._foreach_copy_(self.local, self.weights)

    @torch.no_grad()
    def correct_gradients(self, own_control):
        gradients = [p.grad for p in self.local]
        torch._foreach_add_(gradients, self.control)
        torch._foreach_sub_(gradients, own_control)

    @torch.no_grad()
    def collect(self, own_control):
        change = torch._foreach_sub(self.weights, self.local)
        torch._foreach_sub_(self.step_sum, change)
        torch._foreach_div_(change, self.config.local_steps * self.config.local_lr)
        torch._foreach_sub_(change, self.control)
        torch._foreach_add_(own_control, change)
        torch._foreach_add_(self.control_sum, change)

    @torch.no_grad()
    def aggregate(self, participants: int):
        torch._foreach_add_(self.weights, self.step_sum, alpha=self.config.server_lr / participants)
        torch._foreach_add_(self.control, self.control_sum, alpha=1.0 / self.config.clients)
        torch._foreach_zero_(self.step_sum)
        torch._foreach_zero_(self.control_sum)

    def train_client(self, client: int, data: ClientData) -> float:
        own_control = self.clients.of(client)
        self.send_weights()
        optimizer = torch.optim.SGD(self.local, lr=self.config.local_lr)
        total = 0.0
        for _ in range(self.config.local_steps):
            images, labels = data.batch()
            loss = F.cross_entropy(self.worker(images), labels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.correct_gradients(own_control)
            optimizer.step()
            total += loss.item()
        optimizer.zero_grad(set_to_none=True)
        self.collect(own_control)
        return total / self.config.local_steps


class Schedule:
    """Draws the participants of each round without replacement, pass after pass."""

    def __init__(self, config: FederationConfig, seed: int = 0):
        self.config = config
        self.random = random.Random(seed)
        self.waiting = []

    def next_round(self):
        if len(self.waiting) < self.config.clients_per_round:
            self.waiting = self.random.sample(range(self.config.clients), self.config.clients)
        chosen = self.waiting[:self.config.clients_per_round]
        del self.waiting[:self.config.clients_per_round]
        return chosen


def main():
    config = FederationConfig()
    torch.manual_seed(0)
    allocated = []
    try:
        server, schedule = Server(config), Schedule(config)
        templates = torch.randn(config.classes, 3, config.image_size, config.image_size, device=DEVICE)
        for number in range(config.rounds):
            chosen = schedule.next_round()
            losses = [server.train_client(client, ClientData(config, templates, client)) for client in chosen]
            server.aggregate(len(chosen))
            allocated.append(device_memory())
            print(f"round {number:2d} clients {chosen} loss {sum(losses) / len(losses):.4f}", flush=True)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
