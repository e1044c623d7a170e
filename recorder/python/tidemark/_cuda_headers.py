# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Finds the CUDA headers that torch's own headers include."""

from __future__ import annotations

import os

from tidemark._sentence import Sentence

DEFAULT_TOOLKIT = "/usr/local/cuda"
NEEDED = ("cuda_runtime_api.h", "crt/host_config.h")  # some wheels contain only one of them


def _places(site_packages: str, cuda: str) -> list[list[str]]:
    """Returns groups of folders. The folders of one group belong to the same CUDA version."""
    toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), DEFAULT_TOOLKIT]
    nvidia = os.path.join(site_packages, "nvidia")
    wheels = [f"cu{cuda.split('.')[0]}", "cuda_runtime", "cuda_nvcc"]
    return [
        *([os.path.join(toolkit, "include")] for toolkit in toolkits if toolkit),
        [os.path.join(nvidia, wheel, "include") for wheel in wheels],
        [os.path.join(site_packages, "triton", "backends", "nvidia", "include")],
    ]


def find(site_packages: str, cuda: str) -> list[str]:
    """Returns the include folders that together contain all NEEDED headers, or an empty list if they are not installed.

    site_packages: the folder that contains torch. cuda: torch.version.cuda, such as "12.6", or "".
    Searches CUDA_HOME, CUDA_PATH, /usr/local/cuda, NVIDIA's wheels and triton's wheel, in this order.
    """
    for group in _places(site_packages, cuda):
        folders = [folder for folder in group if any(os.path.exists(os.path.join(folder, header)) for header in NEEDED)]
        if all(any(os.path.exists(os.path.join(folder, header)) for folder in folders) for header in NEEDED):
            return folders
    return []


def fix(cuda: str) -> Sentence:
    """Returns the instruction for the user if find() finds nothing, without a final period. cuda: as for find()."""
    wheels = {
        "12": ("nvidia-cuda-runtime-cu12", "nvidia-cuda-nvcc-cu12"),
        "13": ("nvidia-cuda-runtime", "nvidia-cuda-crt"),
    }.get(cuda.split(".")[0])
    toolkit = Sentence("install the CUDA Toolkit and set CUDA_HOME")
    if wheels is None:
        return toolkit
    version = ".".join(cuda.split(".")[:2])
    command = "pip install " + " ".join(f'"{wheel}=={version}.*"' for wheel in wheels)
    return Sentence("{command}, or {toolkit}", command=command, toolkit=toolkit)
