# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Class incremental few-shot learning with prototype heads.

New classes arrive session by session. A frozen backbone describes the support images of the session; a small projector
is fitted so that queries lie close to the prototypes of their classes. What later sessions need of a session, its final
prototypes, is kept on the host and used to score a mixed stream of old and new classes.
"""

import gc
import json
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class SessionConfig:
    sessions: int = 6 if SMALL else 24
    ways: int = 3 if SMALL else 16
    shots: int = 8 if SMALL else 512
    image_size: int = 16 if SMALL else 64
    feature_dim: int = 32 if SMALL else 2048
    embed_dim: int = 16 if SMALL else 1024
    fit_steps: int = 3 if SMALL else 150
    query_batch: int = 12 if SMALL else 512
    extract_batch: int = 16 if SMALL else 512
    temperature: float = 0.1
    lr: float = 0.05


def device_memory() -> int:
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


class Backbone(nn.Module):
    """Frozen convolutional descriptor."""

    def __init__(self, dim: int):
        super().__init__()
        widths = (3, 32, 64, 128)
        layers = []
        for inner, outer in zip(widths, widths[1:]):
            layers += [nn.Conv2d(inner, outer, 3, stride=2, padding=1), nn.BatchNorm2d(outer), nn.ReLU(inplace=True)]
        self.trunk = nn.Sequential(*layers)
        self.expand = nn.Linear(widths[-1] * 4, dim)
        self.requires_grad_(False).eval()

    def forward(self, images):
        pooled = F.adaptive_avg_pool2d(self.trunk(images), 2)
        return self.expand(pooled.flatten(1))


class SessionData:
    """Images of the classes that arrive in one session."""

    def __init__(self, config: SessionConfig, session: int):
        self.config = config
        self.generator = torch.Generator(device=DEVICE).manual_seed(1000 + session)
        size = config.image_size
        self.class_means = torch.randn(config.ways, 3, size, size, generator=self.generator, device=DEVICE)

    def draw(self, labels):
        images = self.class_means[labels]
        return images + torch.randn(images.shape, generator=self.generator, device=DEVICE)

    def support_batches(self):
        labels = torch.arange(self.config.ways, device=DEVICE).repeat_interleave(self.config.shots)
        for chunk in labels.split(self.config.extract_batch):
            yield self.draw(chunk)

    def queries(self):
        labels = torch.randint(self.config.ways, (self.config.query_batch,), generator=self.generator, device=DEVICE)
        return self.draw(labels), labels


class PrototypeHead(nn.Module):
    """Cosine classifier whose prototypes follow from the projected support features.

    The prototypes are computed at most once between two updates of the projector.
    """

    def __init__(self, config: SessionConfig, support):
        super().__init__()
        self.config = config
        self.projector = nn.Linear(config.feature_dim, config.embed_dim)
        self.register_buffer("support", support, persistent=False)
        self._prototypes = None

    def _on_backward(self, grad_inputs, grad_outputs):
        self._prototypes = None

    def prototypes(self):
        if self._prototypes is None:
            embedded = self.projector(self.support)
            centers = embedded.view(self.config.ways, self.config.shots, -1).mean(dim=1)
            centers = F.normalize(torch.tanh(centers), dim=-1)
            centers.grad_fn.register_hook(self._on_backward)
            self._prototypes = centers
        return self._prototypes

    def forward(self, features):
        queries = F.normalize(self.projector(features), dim=-1)
        return queries @ self.prototypes().t() / self.config.temperature


class IncrementalLearner:
    def __init__(self, config: SessionConfig):
        self.config = config
        self.backbone = Backbone(config.feature_dim).to(DEVICE)
        self.known = {}

    def describe(self, data: SessionData):
        with torch.no_grad():
            return torch.cat([self.backbone(images) for images in data.support_batches()])

    def fit(self, head: PrototypeHead, data: SessionData):
        optimizer = torch.optim.SGD(head.parameters(), lr=self.config.lr)
        for _ in range(self.config.fit_steps):
            images, labels = data.queries()
            loss = F.cross_entropy(head(self.backbone(images)), labels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    def evaluate(self, head: PrototypeHead, data: SessionData) -> float:
        head.eval()
        images, labels = data.queries()
        predictions = head(self.backbone(images)).detach().argmax(dim=1)
        return (predictions == labels).float().mean().item()

    def learn_session(self, session: int):
        data = SessionData(self.config, session)
        head = PrototypeHead(self.config, self.describe(data)).to(DEVICE)
        loss = self.fit(head, data)
        accuracy = self.evaluate(head, data)
        self.known[session] = head.prototypes().detach().cpu()
        return loss, accuracy

    def spread(self) -> float:
        """Mean cosine between the prototypes of all sessions so far: how crowded the space has become."""
        stacked = torch.cat(list(self.known.values()))
        return (stacked @ stacked.t()).mean().item()


def main():
    config = SessionConfig()
    torch.manual_seed(0)
    allocated = []
    try:
        learner = IncrementalLearner(config)
        for session in range(config.sessions):
            loss, accuracy = learner.learn_session(session)
            gc.collect()
            allocated.append(device_memory())
            spread = learner.spread()
            print(f"session {session:2d} loss {loss:.4f} accuracy {accuracy:.3f} spread {spread:.3f}", flush=True)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
