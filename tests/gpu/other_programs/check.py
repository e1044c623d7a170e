# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records programs without PyTorch, and PyTorch with other allocators, on a GPU. Checks events, first finding, site
and counters of each trace.

    check.py TIDEMARK OUTPUT [--python PYTHON] [--cuda FOLDER] [NAME...]

TIDEMARK: the command. OUTPUT: a folder for traces and explanations. --python: an interpreter with torch, and with cupy,
jax and numba as far as there are; a library that is missing skips its programs. --cuda: the folder with the compiled
.cu programs, which are skipped without it:

    for name in cuda_retains cuda_steady cuda_async_retains; do
        nvcc -O1 -g -lineinfo -o FOLDER/$name $name.cu && nvcc -O1 -o FOLDER/${name}_plain $name.cu
    done

Run it from the repository root on the machine with the GPU, for example:

    python tests/gpu/other_programs/check.py build/ci/recorder/cli/tidemark /tmp/other --cuda FOLDER

To carry there: the folder build/ci/recorder (the command and lib/tidemark), FOLDER, and the shared libraries of
tidemark-recorder that are not installed there (`ldd`): since native frames have names, also libdw.so.1 and libelf.so.1.
The plugin is compiled there at the first torch program.

nvcc links CUDA's runtime statically by default, which is what must be tested. Where the programs run, no nvcc is
needed, only a GPU and a C++ compiler for pluggable.cpp.

Prints one line per program; exit status 1 if one is wrong.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


class Expected:
    """What a trace must contain. leak: whether a leak must be found (True), must not (False). site: part of the first
    finding's line. text: parts of the explanation. referrer: part of what retains the memory. events: whether the
    devices must have events."""

    def __init__(self, leak, site="", text=(), referrer="", events=True, torch=False):
        self.leak, self.site, self.text, self.referrer = leak, site, text, referrer
        self.events, self.torch = events, torch


def line_of(file, mark="# the site"):
    """Returns "cuda_retains.cu:25" for the marked line."""
    lines = (HERE / file).read_text().splitlines()
    return f"{file}:{next(i for i, text in enumerate(lines, 1) if text.endswith(mark))}"


PROGRAMS = {
    "cuda_retains": Expected(True, line_of("cuda_retains.cu", "// the site"), ("cudaFree",)),
    "cuda_retains_plain": Expected(True, "cuda_retains_plain", ("cudaFree",)),
    "cuda_steady": Expected(False),
    "cuda_steady_plain": Expected(False),
    "cuda_async_retains": Expected(True, line_of("cuda_async_retains.cu", "// the site")),
    "cuda_async_retains_plain": Expected(True, "cuda_async_retains_plain"),
    "cupy_retains": Expected(True, "cupy_retains.py", ("array.get()",), referrer="list `results`"),
    "cupy_cache": Expected(True, "cupy_cache.py", ("transfer.cache_clear()",), referrer="`transfer.cache`"),
    "cupy_of_torch": Expected(True, "cupy_of_torch.py", referrer="dict `tracker.maps`", torch=True),
    "cupy_steady": Expected(False),
    "jax_history": Expected(True, line_of("jax_history.py"), ("jax.device_get",), "list `run.metrics_history`"),
    "jax_retains_platform": Expected(True, line_of("jax_retains_platform.py"), ("jax.device_get",)),
    "jax_retains_default": Expected(None, text=("XLA_PYTHON_CLIENT_PREALLOCATE",)),
    "jax_steady": Expected(False),
    "numba_retains": Expected(True, line_of("numba_retains.py"), ("copy_to_host()",), referrer="list `fields`"),
    "numba_tuples": Expected(True, line_of("numba_tuples.py"), referrer="list `denoiser.in_flight`"),
    "numba_steady": Expected(False),
    "torch_async_retains": Expected(True, "torch_programs.py", torch=True),
    "torch_async_steady": Expected(False, torch=True),
    "torch_pluggable_retains": Expected(True, "torch_programs.py", torch=True),
    "torch_pluggable_steady": Expected(False, torch=True),
    "torch_mempool_retains": Expected(True, "torch_programs.py", torch=True),
    "torch_mempool_steady": Expected(False, torch=True),
}
FOREIGN = ("caching allocator", "empty_cache", "reserved by PyTorch", "PyTorch's allocator", "autograd")


def command_of(name, arguments):
    """Returns the command line; a sentence if the program cannot run here."""
    library = name.split("_")[0]
    if library == "cuda":
        program = None if arguments.cuda is None else arguments.cuda / name
        return [str(program)] if program and program.exists() else "it is not compiled (--cuda)"
    for needed in {library, "torch"} if PROGRAMS[name].torch else {library}:
        find = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{needed}') is None)"
        if subprocess.run([arguments.python, "-c", find]).returncode != 0:
            return f"{needed} is not installed"
    if library != "torch":
        return [arguments.python, str(HERE / f"{name}.py")]
    _, allocator, conduct = name.split("_")
    command = [arguments.python, str(HERE / "torch_programs.py"), allocator, conduct]
    return [*command, str(pluggable_library(arguments.output))] if allocator == "pluggable" else command


def pluggable_library(folder):
    library = folder / "libpluggable.so"
    if not library.exists():
        compiler = os.environ.get("CXX", "g++")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, HERE / "pluggable.cpp", "-ldl"], check=True)
    return library


def told(arguments, *words):
    """Returns the JSON of a command of tidemark."""
    done = subprocess.run([arguments.tidemark, *words, "--format", "json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def problems_of(expected, trace, arguments):
    """Yields what is wrong with a trace."""
    explanation = told(arguments, "explain", trace)
    trace.with_suffix(".json").write_text(json.dumps(explanation, indent=1))
    text = subprocess.run([arguments.tidemark, "explain", str(trace)], capture_output=True, text=True).stdout
    trace.with_suffix(".txt").write_text(text)
    info = told(arguments, "info", trace)
    trace.with_suffix(".info.json").write_text(json.dumps(info, indent=1))
    events = sum(device.get("events", 0) for device in info.get("devices", []))
    if expected.events and events == 0:
        yield "no events"
    findings = explanation.get("findings", [])
    leaks = [finding for finding in findings if finding["severity"] == "leak"]
    if expected.leak is True and not leaks:
        yield "no leak"
    if expected.leak is False and leaks:
        yield f"a leak: {leaks[0]['title']}"
    if expected.leak and leaks and findings[0] is not leaks[0]:
        yield f"first finding is {findings[0]['title']}"
    if expected.site and leaks and expected.site not in leaks[0]["line"]:
        yield f"site is {leaks[0]['line']}"
    if expected.referrer and leaks and expected.referrer not in leaks[0]["referrer"]:
        yield f"the referrer is {leaks[0]['referrer'] or 'unknown'}"
    for part in expected.text:
        if part not in text:
            yield f"the explanation lacks {part}"
    for part in FOREIGN:
        if not expected.torch and part in text:
            yield f"the explanation says {part}"
    breakdown = told(arguments, "breakdown", trace)
    trace.with_suffix(".breakdown.json").write_text(json.dumps(breakdown, indent=1))


def check(name, arguments):
    """Returns (status, text)."""
    command = command_of(name, arguments)
    if isinstance(command, str):
        return "SKIPPED", command
    trace = arguments.output / f"{name}.tide"
    recorded = subprocess.run(
        [arguments.tidemark, "record", "--force", "-o", str(trace), "--", *command], capture_output=True, text=True
    )
    trace.with_suffix(".log").write_text(recorded.stdout + recorded.stderr)
    if recorded.returncode != 0 or not trace.exists():
        return "WRONG", f"recording ended with {recorded.returncode}: {recorded.stderr.strip()[-300:]}"
    try:
        problems = list(problems_of(PROGRAMS[name], trace, arguments))
    except (ValueError, KeyError, IndexError) as failure:
        problems = [f"{type(failure).__name__}: {failure}"]
    return ("WRONG", "; ".join(problems)) if problems else ("ok", cost_of_scans(trace, arguments))


def cost_of_scans(trace, arguments):
    """Returns "4 scans in 31 ms of 4.2 s, the longest in 12 ms", without those that were asked for."""
    scans = "SELECT duration FROM heap_scan WHERE reason NOT IN ('end', 'asked') ORDER BY 1 DESC"
    took = [row[0] / 1e6 for row in told(arguments, "query", trace, scans)["rows"]]
    seconds = told(arguments, "info", trace)["duration_ns"] / 1e9
    return (
        f"{len(took)} scans in {sum(took):.0f} ms of {seconds:.1f} s, the longest in {max(took):.0f} ms" if took else ""
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tidemark")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--cuda", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_intermixed_args()
    arguments.output = arguments.output.resolve()
    arguments.output.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for name in arguments.names or PROGRAMS:
        status, text = check(name, arguments)
        wrong += status == "WRONG"
        print(f"{name:28} {status:8} {text}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
