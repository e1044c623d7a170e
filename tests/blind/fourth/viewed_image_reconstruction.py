# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Reconstructs viewed images from decoded brain activity by matching the features of a convolutional encoder."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torchvision.models import vgg11

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class ReconstructionConfig:
    layers: tuple[str, ...] = ("features.3", "features.8", "features.13", "features.18")
    image_size: int = 32 if SMALL else 224
    images_per_session: int = 2 if SMALL else 8
    latent: int = 16 if SMALL else 128
    voxels: int = 64 if SMALL else 4096
    sessions: int = 5 if SMALL else 36
    iterations: int = 2 if SMALL else 20
    lr: float = 0.05
    tv_weight: float = 1e-3


def layer_of(model: nn.Module, path: str) -> nn.Module:
    module = model
    for part in path.split("."):
        module = module[int(part)] if part.isdigit() else getattr(module, part)
    return module


class FeatureExtractor:
    """Collects the outputs of the named layers of an encoder in single precision."""

    def __init__(self, encoder: nn.Module, layers: tuple[str, ...]) -> None:
        self._encoder = encoder
        self._layers = layers
        self._features: dict[str, torch.Tensor] = {}
        for name in layers:
            layer_of(encoder, name).register_forward_hook(self._make_hook(name))

    def _make_hook(self, name: str):
        def hook(_module: nn.Module, _inputs: tuple, output: torch.Tensor) -> None:
            self._features[name] = output.float()

        return hook

    def run(self, images: torch.Tensor) -> dict[str, torch.Tensor]:
        self._features.clear()
        with torch.autocast(DEVICE.type, dtype=torch.bfloat16):
            self._encoder(images)
        return dict(self._features)


class EncoderWrapper(nn.Module):
    """Convolutional part of the network, without the classifier."""

    def __init__(self, features: nn.Sequential) -> None:
        super().__init__()
        self.features = features

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.features((images - 0.45) / 0.225)


class ImageGenerator(nn.Module):
    """Small decoder from a latent vector to an image, standing in for a trained prior."""

    def __init__(self, config: ReconstructionConfig) -> None:
        super().__init__()
        self.start = config.image_size // 16
        self.project = nn.Linear(config.latent, 64 * self.start**2)
        stages: list[nn.Module] = []
        channels = 64
        for out_channels in (48, 32, 24, 16):
            stages += [nn.Upsample(scale_factor=2), nn.Conv2d(channels, out_channels, 3, padding=1), nn.SiLU()]
            channels = out_channels
        self.decode = nn.Sequential(*stages, nn.Conv2d(channels, 3, 3, padding=1), nn.Sigmoid())

    def forward(self, latent: torch.Tensor) -> torch.Tensor:
        base = self.project(latent).view(-1, 64, self.start, self.start)
        return self.decode(base)


class RidgeDecoder:
    """Linear map from voxels to channel means of each layer."""

    def __init__(self, config: ReconstructionConfig, widths: dict[str, int]) -> None:
        generator = torch.Generator().manual_seed(11)
        self.weights = {
            name: (torch.randn(config.voxels, width, generator=generator) / config.voxels**0.5).to(DEVICE)
            for name, width in widths.items()
        }

    def __call__(self, activity: torch.Tensor) -> dict[str, torch.Tensor]:
        return {name: F.softplus(activity @ weight) for name, weight in self.weights.items()}


def total_variation(images: torch.Tensor) -> torch.Tensor:
    vertical = (images[..., 1:, :] - images[..., :-1, :]).abs().mean()
    horizontal = (images[..., :, 1:] - images[..., :, :-1]).abs().mean()
    return vertical + horizontal


def feature_loss(features: dict[str, torch.Tensor], targets: dict[str, torch.Tensor]) -> torch.Tensor:
    terms = [F.mse_loss(features[name].mean((-2, -1)), target) for name, target in targets.items()]
    return torch.stack(terms).sum()


class Reconstructor:
    def __init__(self, config: ReconstructionConfig) -> None:
        self.config = config
        self.network = EncoderWrapper(vgg11(weights=None).features).to(DEVICE).eval().requires_grad_(False)
        self.generator = ImageGenerator(config).to(DEVICE).eval().requires_grad_(False)
        self.decoder = RidgeDecoder(config, self._widths())

    def _widths(self) -> dict[str, int]:
        widths = {}
        channels = 3
        for index, module in enumerate(self.network.features):
            channels = module.out_channels if isinstance(module, nn.Conv2d) else channels
            widths[f"features.{index}"] = channels
        return {name: widths[name] for name in self.config.layers}

    def reconstruct(self, activity: torch.Tensor) -> tuple[torch.Tensor, float]:
        extractor = FeatureExtractor(self.network, self.config.layers)
        targets = self.decoder(activity)
        latent = torch.zeros(activity.shape[0], self.config.latent, device=DEVICE, requires_grad=True)
        optimizer = torch.optim.Adam([latent], lr=self.config.lr)
        value = float("nan")
        for _ in range(self.config.iterations):
            images = self.generator(latent)
            features = extractor.run(images)
            loss = feature_loss(features, targets) + self.config.tv_weight * total_variation(images)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            value = loss.item()
        with torch.no_grad():
            result = self.generator(latent)
        return result, value


def sessions(config: ReconstructionConfig) -> Iterator[torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    for _ in range(config.sessions):
        yield torch.randn(config.images_per_session, config.voxels, generator=generator).to(DEVICE)


def main() -> None:
    torch.manual_seed(0)
    config = ReconstructionConfig()
    allocated: list[int] = []
    try:
        reconstructor = Reconstructor(config)
        contrast: list[float] = []
        for index, activity in enumerate(sessions(config)):
            images, loss = reconstructor.reconstruct(activity)
            contrast.append(images.std().item())
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
            if index % 6 == 0:
                print(f"session {index:2d}: loss {loss:.5f}, contrast {contrast[-1]:.3f}")
        print(f"mean contrast {sum(contrast) / len(contrast):.3f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
