# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""What PyPI serves of torch."""

import json
import re
import urllib.request

_WHEEL = re.compile(r"torch-(\d+\.\d+\.\d+)-(cp31\d)-\2-manylinux\w*_x86_64\.whl$")


def numbers(version: str) -> tuple[int, ...]:
    """Returns (2, 11, 0) of "2.11.0", by which versions are sorted."""
    return tuple(map(int, version.split(".")))


def is_one_of(release: str, wanted: list[str]) -> bool:
    """Returns whether a release is wanted, by its own name or that of its minor."""
    return any(f"{release}.".startswith(f"{name}.") for name in wanted)


def files_of(project: str) -> list[dict]:
    """Returns the files of a project on PyPI, without those that were yanked. Raises OSError."""
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    request = urllib.request.Request(f"https://pypi.org/simple/{project}/", headers=accept)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return [each for each in json.load(answer)["files"] if not each.get("yanked")]


def wheels() -> dict[str, dict[str, dict]]:
    """Returns torch's wheels for Linux on x86-64 by release, oldest first, and by Python (such as "cp311")."""
    found: dict[str, dict[str, dict]] = {}
    for file in files_of("torch"):
        wheel = _WHEEL.match(file["filename"])
        if wheel:
            found.setdefault(wheel[1], {})[wheel[2]] = file
    return dict(sorted(found.items(), key=lambda item: numbers(item[0])))
