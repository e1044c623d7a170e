# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Tests the recorder on releases of torch and Python, without a GPU, and writes the table of docs/VERSIONS.md.

    prove_versions.py RESULTS [--home BUILD/recorder/lib/tidemark] [--python python3.12 ...] [--torch 2.11 2.15.0 ...]

Installs each release from PyPI into an environment of its own (3 GB each, removed afterwards), compiles the plugin for
it, or takes the one that HOME/plugins has for it, and runs the tests in tests/recorder that need no GPU. A minor means
its newest release; without --torch, all minors that this Tidemark knows. Each result is a file in RESULTS, and is not
repeated: a run that was interrupted goes on, and a nightly run tests what is new. Without HOME, writes only the table.

A new minor is one more entry of KNOWN_TORCH in recorder/python/tidemark/_build.py. Exits with 1 if a result is bad.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection

_ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT / "installers" / "wheel"))

import torch_releases
from torch_releases import is_one_of, numbers

_TABLE = _ROOT / "docs" / "VERSIONS.md"
_TABLE_BEGINS = "<!-- table: written by tests/versions/prove_versions.py -->\n"
_SUBJECTS = (
    *("arrays", "frames", "package", "referrers", "sentence", "trust"),
    *("graph", "graph_runs", "prebuilt", "referrers_torch", "retention", "steering"),
)
_LONGEST_SUBJECT_S = 1200


@dataclasses.dataclass
class Result:
    """What the tests said about one torch with one Python. Without `tests`, `failure` says why none ran."""

    torch: str
    python: str
    cuda: str = ""
    plugin: str = ""
    tests: int = 0
    skipped: int = 0
    failed: list[str] = dataclasses.field(default_factory=list)
    failure: str = ""

    @property
    def is_good(self) -> bool:
        return self.tests > 0 and not self.failed and not self.failure


def _select(releases: Collection[str], wanted: list[str]) -> list[str]:
    """Returns the newest release of each wanted version, newest first."""
    selected = []
    for version in wanted:
        of_version = [release for release in releases if is_one_of(release, [version])]
        if not of_version:
            sys.exit(f"PyPI has no torch {version} for Linux; it has {', '.join(releases)}")
        selected.append(max(of_version, key=numbers))
    return sorted(selected, key=numbers, reverse=True)


def _version_of(python: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def _run_subject(python: str, subject: str, home: str, result: Result) -> None:
    """Adds what the tests of one module said."""
    environment = os.environ | {"TIDEMARK_HOME": home, "TIDEMARK_TEST_PYTHON": python}
    try:
        done = subprocess.run(
            [python, "-B", "-m", "unittest", "-v", f"test_{subject}"],
            cwd=_ROOT / "tests" / "recorder",
            env=environment,
            capture_output=True,
            text=True,
            timeout=_LONGEST_SUBJECT_S,
        )
    except subprocess.TimeoutExpired:
        result.failed.append(f"{subject}: more than {_LONGEST_SUBJECT_S} s")
        return
    ran = re.search(r"^Ran (\d+) test", done.stderr, re.MULTILINE)
    skipped = re.search(r"skipped=(\d+)", done.stderr)
    result.tests += int(ran[1]) if ran else 0
    result.skipped += int(skipped[1]) if skipped else 0
    bad = re.findall(r"^(?:FAIL|ERROR): (\w+)", done.stderr, re.MULTILINE)
    if done.returncode and not bad:
        bad = [(done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]]
    result.failed += [f"{subject}: {name}" for name in bad]


_BUILD_PLUGIN = """
import os, sys
sys.path.insert(0, os.path.join(os.environ["TIDEMARK_HOME"], "python"))
import torch
from tidemark import _build, _core
plugin = _build.built_for(torch)
print(torch.version.cuda, "prebuilt" if plugin.startswith(_core.home()) else "compiled")
"""


def _prove(torch: str, python: str, home: str) -> Result:
    result = Result(torch, _version_of(python))
    with tempfile.TemporaryDirectory() as folder:
        own_python = f"{folder}/env/bin/python"
        subprocess.run([python, "-m", "venv", f"{folder}/env"], check=True)
        pip = [own_python, "-m", "pip", "install", "--quiet", "--no-cache-dir", f"torch=={torch}", "numpy"]
        installed = subprocess.run(pip, capture_output=True, text=True)
        if installed.returncode:
            result.failure = "pip: " + (installed.stderr.strip().splitlines() or ["?"])[-1]
            return result
        built = subprocess.run(
            [own_python, "-B", "-c", _BUILD_PLUGIN],
            env=os.environ | {"TIDEMARK_HOME": home},
            capture_output=True,
            text=True,
        )
        if built.returncode:
            result.failure = "plugin: " + (built.stderr.strip().splitlines() or ["?"])[-1]
            return result
        result.cuda, result.plugin = built.stdout.split()
        for subject in _SUBJECTS:
            _run_subject(own_python, subject, home, result)
    return result


def _prove_all(given: argparse.Namespace) -> None:
    sys.path.insert(0, os.path.join(given.home, "python"))
    from tidemark import _build

    releases = torch_releases.wheels()
    known = [".".join(map(str, minor)) for minor in _build.KNOWN_TORCH]
    for torch in _select(releases, given.torch or known):
        for python in given.python or [sys.executable]:
            version = _version_of(python)
            path = given.results / f"torch-{torch}-python-{version}.json"
            if path.exists() or "cp" + version.replace(".", "") not in releases[torch]:
                continue
            print(f"torch {torch}, Python {version} ... ", end="", flush=True)
            result = _prove(torch, python, os.path.abspath(given.home))
            path.write_text(json.dumps(dataclasses.asdict(result), indent=1) + "\n")
            print("ok" if result.is_good else result.failure or f"FAILED: {', '.join(result.failed)}", flush=True)


def _row(result: Result) -> str:
    said = result.failure or ", ".join(result.failed)
    outcome = "all passed" if result.is_good else f"**failed**: {said}"
    ran = result.tests - result.skipped
    cells = [result.torch, result.cuda, result.python, result.plugin, ran, result.skipped, outcome]
    return f"| {' | '.join(map(str, cells))} |\n"


def _write_table(results: list[Result]) -> None:
    results.sort(key=lambda result: (numbers(result.torch), numbers(result.python)), reverse=True)
    rows = "".join(map(_row, results))
    head = "| torch | CUDA | Python | plugin | tests | skipped | result |\n|---|---|---|---|---|---|---|\n"
    text = _TABLE.read_text()
    _TABLE.write_text(text[: text.index(_TABLE_BEGINS)] + _TABLE_BEGINS + "\n" + head + rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, help="folder of the results")
    parser.add_argument("--home", help="the recorder: BUILD/recorder/lib/tidemark")
    parser.add_argument("--torch", nargs="*", help='releases or minors, such as "2.11.0" or "2.12"')
    parser.add_argument("--python", nargs="*", help="interpreters; the default is this one")
    given = parser.parse_args()
    given.results.mkdir(parents=True, exist_ok=True)
    if given.home:
        _prove_all(given)
    results = [Result(**json.loads(path.read_text())) for path in given.results.glob("torch-*.json")]
    _write_table(results)
    return 0 if all(result.is_good for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
