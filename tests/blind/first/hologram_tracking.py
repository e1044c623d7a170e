# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Particle tracking from in-line holograms.

Bursts of frames come from the acquisition card, are propagated numerically to a stack of depths (angular spectrum),
and the sharpest depth gives z.  Bursts for which the trigger laser fired are entered into the catalogue; the others
only update the background.  At the end a contact sheet of all sightings is rendered.
"""
import json
import os
import sys
import time
from collections import deque
from dataclasses import dataclass, field

import numpy as np

SMALL = os.environ.get("SMALL") == "1"
try:
    import cupy as cp
    ON_GPU = True
except ImportError:
    if not SMALL:
        raise
    cp = np
    ON_GPU = False


@dataclass
class Optics:
    wavelength: float = 0.532e-6
    pixel: float = 3.45e-6
    z_near: float = 5e-3
    z_far: float = 12e-3
    planes: int = 8
    side: int = 128 if SMALL else 1024


@dataclass
class Acquisition:
    bursts: int = 30 if SMALL else 120
    frames_per_burst: int = 4
    trigger_every: int = 5
    interval: float = 0.0 if SMALL else 0.03
    half_width: int = 20
    background_bursts: int = 6
    seed: int = 11


@dataclass
class Sighting:
    burst: int
    frame: int
    z: float
    xy: tuple
    sharpness: float
    patch: object = field(repr=False)


def used_bytes() -> int:
    return int(cp.get_default_memory_pool().used_bytes()) if ON_GPU else 0


class Camera:
    """Stands in for the frame grabber: interference rings around one particle, plus noise."""

    def __init__(self, optics: Optics, acq: Acquisition):
        self.optics, self.acq = optics, acq
        self.rng = np.random.default_rng(acq.seed)
        ax = np.arange(optics.side, dtype=np.float32)
        self.yy, self.xx = np.meshgrid(ax, ax, indexing="ij")
        self.noise = self.rng.standard_normal((optics.side, optics.side), dtype=np.float32)

    def read(self, index: int):
        n, h = self.optics.side, self.acq.half_width
        cy, cx = self.rng.integers(h + 2, n - h - 2, size=2)
        r2 = (self.yy - cy) ** 2 + (self.xx - cx) ** 2
        rings = 1.0 + 0.4 * np.cos(r2 * 0.004) * np.exp(-r2 / (2.0 * (n / 6) ** 2))
        burst = np.stack([rings + 0.02 * np.roll(self.noise, 7 * k, axis=1)
                          for k in range(self.acq.frames_per_burst)]).astype(np.float32)
        return burst, (int(cy), int(cx)), index % self.acq.trigger_every == 0


class Propagator:
    def __init__(self, optics: Optics):
        n = optics.side
        f = np.fft.fftfreq(n, d=optics.pixel).astype(np.float32)
        fx, fy = np.meshgrid(f, f)
        arg = np.clip(1.0 - (optics.wavelength * fx) ** 2 - (optics.wavelength * fy) ** 2, 0, None)
        self.depths = np.linspace(optics.z_near, optics.z_far, optics.planes)
        k = 2 * np.pi / optics.wavelength
        self.kernels = cp.stack([cp.asarray(np.exp(1j * k * z * np.sqrt(arg)).astype(np.complex64))
                                 for z in self.depths])

    def volume(self, frames):
        spectrum = cp.fft.fft2(frames, axes=(-2, -1))
        waves = cp.fft.ifft2(spectrum[:, None] * self.kernels[None], axes=(-2, -1))
        return (cp.abs(waves) ** 2).astype(cp.float32, copy=False)


class Background:
    """Mean of the last bursts, subtracted before propagation."""

    def __init__(self, length: int):
        self.recent = deque(maxlen=length)

    def subtract(self, frames):
        self.recent.append(frames.mean(axis=0))
        mean = sum(self.recent) / len(self.recent)
        return frames / cp.maximum(mean, 1e-3)


class Catalogue:
    def __init__(self, half_width: int):
        self.half_width = half_width
        self.sightings: list[Sighting] = []

    def enter(self, index, volume, depths, centre):
        h = self.half_width
        y, x = centre
        window = volume[:, :, y - h:y + h, x - h:x + h]
        score = window.var(axis=(2, 3))
        frame, plane = (int(i) for i in np.unravel_index(int(score.argmax()), score.shape))
        patch = window[frame, plane]
        self.sightings.append(Sighting(index, frame, float(depths[plane]), centre, float(score.max()), patch))

    def contact_sheet(self):
        return cp.concatenate([s.patch for s in self.sightings], axis=1)


def main():
    optics, acq = Optics(), Acquisition()
    camera, propagator = Camera(optics, acq), Propagator(optics)
    background, catalogue = Background(acq.background_bursts), Catalogue(acq.half_width)
    seen, focus_log = [], deque(maxlen=256)
    for index in range(acq.bursts):
        frames, centre, triggered = camera.read(index)
        flat = background.subtract(cp.asarray(frames))
        volume = propagator.volume(flat)
        focus_log.append(float(volume.max()))
        if triggered:
            catalogue.enter(index, volume, propagator.depths, centre)
        del frames, flat, volume
        if (index + 1) % (acq.bursts // 10) == 0:
            seen.append(used_bytes())
            print(f"burst {index + 1}: {len(catalogue.sightings)} sightings, peak {focus_log[-1]:.1f}", flush=True)
        time.sleep(acq.interval)
    sheet = catalogue.contact_sheet()
    depth = np.array([s.z for s in catalogue.sightings])
    print(f"contact sheet {sheet.shape}, z = {depth.mean() * 1e3:.2f} +- {depth.std() * 1e3:.2f} mm")
    print("TRUTH " + json.dumps({"allocated": seen, "rounds": acq.bursts, "sightings": len(catalogue.sightings)}),
          file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
