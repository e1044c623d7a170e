# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Checks the records of the driver part on a machine with a GPU. Requires a Python that has torch for CUDA.

    python tests/gpu/driver_probe.py BUILD/tests/gpu/driver_probe

That folder contains libtidemark_driver.so and a core that logs its records (target driver_probe). Three programs run:
one with the driver part injected, one with expandable segments, one that attaches late. Each step has expected
records. Prints one line per step; exit status 1 if one is wrong.
"""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MIB = 1 << 20
ALLOC, FREE, CONTEXT_CREATED, CONTEXT_DESTROYED, MODULE, ON, OFF = range(7)
MEMORIES = ("device", "async", "pool", "physical", "mapped", "pinned", "managed", "array")
ACTIONS = ("alloc", "free", "context created", "context destroyed", "module", "on", "off")


# --- the programs --------------------------------------------------------------------------------------------------


class Cuda:
    """The CUDA runtime that torch has loaded, called directly."""

    def __init__(self):
        maps = pathlib.Path("/proc/self/maps").read_text().splitlines()
        names = [line.split()[-1] for line in maps if "libcudart" in line]
        self.library = ctypes.CDLL(names[0])

    def __call__(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            print(f"{name}: error {status}", file=sys.stderr)

    def out(self, name, *arguments):
        pointer = ctypes.c_void_p()
        self(name, ctypes.byref(pointer), *arguments)
        return pointer


def size(bytes_):
    return ctypes.c_size_t(bytes_)


def runtime_calls(step):
    cuda = Cuda()
    step("cudaMalloc")
    pointer = cuda.out("cudaMalloc", size(3 * MIB))
    cuda("cudaFree", pointer)
    step("cudaMallocPitch")
    pitch = ctypes.c_size_t()
    pointer = cuda.out("cudaMallocPitch", ctypes.byref(pitch), size(1000), size(64))
    cuda("cudaFree", pointer)
    step("cudaHostAlloc")
    pointer = cuda.out("cudaHostAlloc", size(5 * MIB), ctypes.c_uint(0))
    cuda("cudaFreeHost", pointer)
    step("cudaMallocHost")
    pointer = cuda.out("cudaMallocHost", size(5 * MIB))
    cuda("cudaFreeHost", pointer)
    step("cudaHostRegister")
    memory = ctypes.create_string_buffer(4 * MIB)
    cuda("cudaHostRegister", memory, size(4 * MIB), ctypes.c_uint(0))
    cuda("cudaHostUnregister", memory)
    step("cudaMallocManaged")
    pointer = cuda.out("cudaMallocManaged", size(7 * MIB), ctypes.c_uint(1))
    cuda("cudaFree", pointer)
    step("cudaMallocAsync")
    pointer = cuda.out("cudaMallocAsync", size(9 * MIB), None)
    cuda("cudaFreeAsync", pointer, None)
    cuda("cudaDeviceSynchronize")
    step("pool gives back")
    pointer = cuda.out("cudaMallocAsync", size(1 * MIB), None)
    cuda("cudaFree", pointer)
    step("failing cudaMalloc")
    cuda.out("cudaMalloc", size(1 << 50))
    cuda("cudaGetLastError")


def injected(step):
    step("start")
    import torch

    torch.cuda.init()
    step("torch segment")
    tensor = torch.empty(100 * MIB, dtype=torch.uint8, device="cuda")
    step("torch segment freed")
    del tensor
    torch.cuda.empty_cache()
    runtime_calls(step)
    step("pinned tensor")
    torch.empty(11 * MIB, dtype=torch.uint8, pin_memory=True)
    step("cublas")
    matrix = torch.ones(512, 512, device="cuda")
    (matrix @ matrix).sum().item()
    step("paused for the profiler")
    driver = ctypes.CDLL("libtidemark_driver.so")
    driver.tidemark_driver_pause()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        (matrix @ matrix).sum().item()
    print(f"   the profiler saw {len(profile.events())} GPU events")
    step("taken back")
    print(f"   resume: {driver.tidemark_driver_resume()}")
    runtime_calls_after = Cuda()
    runtime_calls_after("cudaFree", runtime_calls_after.out("cudaMalloc", size(3 * MIB)))
    step("end")


def expandable(step):
    import torch

    torch.cuda.init()
    step("expandable segment")
    tensor = torch.empty(100 * MIB, dtype=torch.uint8, device="cuda")
    step("expandable segment freed")
    del tensor
    torch.cuda.empty_cache()
    step("end")


def late(step):
    import torch

    tensor = torch.empty(100 * MIB, dtype=torch.uint8, device="cuda")
    step("late attach")
    sentence = ctypes.create_string_buffer(512)
    driver = ctypes.CDLL(os.path.join(sys.argv[1], "libtidemark_driver.so"))
    print(f"   attach: {driver.tidemark_driver_attach(sentence, len(sentence))} {sentence.value.decode()}")
    step("free of what was there")
    del tensor
    torch.cuda.empty_cache()
    runtime_calls(step)
    step("end")


PROGRAMS = {"injected": injected, "expandable": expandable, "late": late}


# --- checks of their records ---------------------------------------------------------------------------------------


def text_of(record):
    if "data_gap" in record:
        return f"data gap: {record['data_gap']}"
    text = ACTIONS[record["action"]]
    if record["action"] <= FREE:
        text += f" {MEMORIES[record['memory']]} {record['size']}"
    return f"{text} [{record['source']}]" if record["source"] else text


def records_by_step(log):
    steps, current = {}, "before"
    for line in pathlib.Path(log).read_text().splitlines():
        record = json.loads(line)
        current = record.get("step", current)
        steps.setdefault(current, [])
        if "step" not in record:
            steps[current].append(record)
    return steps


def pair(memory, bytes_=None):
    return lambda records: matched(records, memory, ALLOC, bytes_) == 1 and matched(records, memory, FREE, bytes_) == 1


def matched(records, memory, action, bytes_=None):
    return sum(
        1
        for record in records
        if record.get("action") == action
        and MEMORIES[record["memory"]] == memory
        and (bytes_ is None or record["size"] == bytes_)
    )


def total(records, memory, action):
    return sum(
        record["size"] for record in records if record.get("action") == action and MEMORIES[record["memory"]] == memory
    )


RUNTIME = {
    "cudaMalloc": pair("device", 3 * MIB),
    "cudaMallocPitch": pair("device"),
    "cudaHostAlloc": pair("pinned", 5 * MIB),
    "cudaMallocHost": pair("pinned", 5 * MIB),
    "cudaHostRegister": pair("pinned", 4 * MIB),
    "cudaMallocManaged": pair("managed", 7 * MIB),
    "cudaMallocAsync": lambda records: pair("async", 9 * MIB)(records) and total(records, "pool", ALLOC) >= 9 * MIB,
    "pool gives back": pair("async", 1 * MIB),
    "failing cudaMalloc": lambda records: not records,
}
EXPECTED = {
    "injected": {
        "before": lambda records: any(record.get("action") == ON for record in records) or not records,
        "start": lambda records: True,
        "torch segment": lambda records: total(records, "device", ALLOC) == 100 * MIB,
        "torch segment freed": lambda records: total(records, "device", FREE) == 100 * MIB,
        **RUNTIME,
        "pinned tensor": lambda records: total(records, "pinned", ALLOC) >= 11 * MIB,
        "cublas": lambda records: any("cublas" in record.get("source", "") for record in records),
        "paused for the profiler": lambda records: any(record.get("action") == OFF for record in records),
        "taken back": lambda records: (
            any(record.get("action") == ON for record in records) and pair("device", 3 * MIB)(records)
        ),
    },
    "expandable": {
        "expandable segment": lambda records: (
            total(records, "physical", ALLOC) >= 100 * MIB
            and total(records, "mapped", ALLOC) == total(records, "physical", ALLOC)
        ),
        "expandable segment freed": lambda records: total(records, "physical", FREE) >= 100 * MIB,
    },
    "late": {
        "late attach": lambda records: any(record.get("action") == ON for record in records),
        "free of what was there": lambda records: matched(records, "device", FREE, 0) >= 1,
        **RUNTIME,
    },
}


def run(name, parts, log):
    environment = {**os.environ, "TIDEMARK_PROBE_LOG": log}
    if name != "late":
        environment |= {
            "TIDEMARK_RECORD": "1",
            "CUDA_INJECTION64_PATH": os.path.join(parts, "libtidemark_driver.so"),
            "TEARDOWN_CUPTI": "1",
        }
    if name == "expandable":
        environment["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    return subprocess.run([sys.executable, __file__, parts, name], env=environment).returncode


def main():
    parts = os.path.abspath(sys.argv[1])
    if len(sys.argv) > 2:
        ctypes.CDLL(os.path.join(parts, "libtidemark_core.so"), ctypes.RTLD_GLOBAL)
        core = ctypes.CDLL("libtidemark_core.so")
        PROGRAMS[sys.argv[2]](lambda name: core.probe_step(name.encode()))
        return 0
    wrong = 0
    for name, expected in EXPECTED.items():
        print(f"== {name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            open(log, "w").close()
            status = run(name, parts, log)
            steps = records_by_step(log)
        wrong += status != 0
        print(f"   exit status {status}")
        for step, is_right in expected.items():
            records = steps.get(step, [])
            fine = (step in steps and is_right(records)) or step == "before"
            wrong += not fine
            shown = "; ".join(text_of(record) for record in records[:12])
            print(f"{'ok   ' if fine else 'WRONG'} {step}: {len(records)} records: {shown}")
        for records in steps.values():
            for record in records:
                if "data_gap" in record:
                    print(f"      {text_of(record)}")
    print("all right" if wrong == 0 else f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
