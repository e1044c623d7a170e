# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Checks that recording does not change a program, and that its trace opens and reports the end, however it ends.

    python tests/gpu/no_harm.py TIDEMARK [NAME...]

Runs small programs on the GPU, with and without recording, and compares. Those in unchanged/ use libraries that people
use, and must give the same bits. Prints one line per check; exit status 1 if one is wrong.
"""

import concurrent.futures
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TIDEMARK = os.path.abspath(sys.argv[1])

PROFILED = """
import json, torch
x = torch.randn(512, 512, device="cuda")
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU,
                                        torch.profiler.ProfilerActivity.CUDA]) as seen:
    for _ in range(5):
        y = (x @ x).relu().sum()
    torch.cuda.synchronize()
# The recorder resumes at the next steps.
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
import time
for _ in range(40):
    model(torch.ones(4, 64, device="cuda")).sum().backward()
    optimizer.step()
    torch.cuda.synchronize()
    time.sleep(0.02)
big = torch.empty(300 << 20, dtype=torch.uint8, device="cuda")
print(json.dumps(sorted((e.key, e.count) for e in seen.key_averages() if "cuda" not in e.key.lower())))
"""

HISTORY = """
import json, torch
torch.cuda.memory._record_memory_history(stacks="python")
model = torch.nn.Linear(256, 256).cuda()
for _ in range(3):
    model(torch.ones(64, 256, device="cuda")).sum().backward()
torch.cuda.synchronize()
found = torch.cuda.memory._snapshot()
print(json.dumps([[e["action"], e["size"], len(e.get("frames", []))] for e in found["device_traces"][0]]))
"""

WORK = """
import os, sys, time, signal, torch
kept = [torch.ones(1 << 18, device="cuda") for _ in range(20)]
torch.cuda.synchronize()
"""

LATE = """
import json, sys, torch
kept = [torch.ones(1000 * (i + 1), device="cuda") for i in range(30)]
del kept[::3]
sys.path.insert(0, sys.argv[2])
import tidemark
truth = []
with tidemark.record(sys.argv[1], force=True):
    for step in range(20):
        kept.append(torch.ones(5000 * step + 1, device="cuda"))
        if step % 4 == 0:
            del kept[:3]
        tidemark.mark(f"m{step}")
        truth.append(torch.cuda.memory_stats())
print(json.dumps(truth))
"""

RANKS = """
import os, torch
import torch.multiprocessing as mp
def work(rank):
    os.environ["RANK"] = str(rank)
    x = torch.ones(1000 * (rank + 1), device="cuda")
    torch.cuda.synchronize()
if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
"""

LOADER = """
import torch
from torch.utils.data import DataLoader
x = torch.ones(10, device="cuda")
class Numbers(torch.utils.data.Dataset):
    def __len__(self): return 40
    def __getitem__(self, i): return torch.tensor([float(i)])
total = sum(batch.cuda().sum().item() for batch in DataLoader(Numbers(), batch_size=4, num_workers=2, pin_memory=True))
print(total)
"""


class Wrong(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Wrong(message)


def bare(arguments, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=200, **options)


def home():
    """Returns the folder with the recorder: that of an installation, or of the wheel in this Python."""
    installed = os.path.realpath(os.path.join(os.path.dirname(TIDEMARK), "..", "lib", "tidemark"))
    of_wheel = ["-c", "from tidemark import _core; print(_core.home())"]
    return installed if os.path.isdir(installed) else bare(of_wheel).stdout.strip()


def recorded(trace, arguments, **options):
    return subprocess.run(
        [TIDEMARK, "record", "--force", "-o", trace, "--", sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        **options,
    )


def info(trace):
    done = subprocess.run([TIDEMARK, "info", trace, "--format", "json"], capture_output=True, text=True)
    require(done.returncode == 0, f"{trace} does not open: {done.stderr}")
    return json.loads(done.stdout)


def how_ended(trace):
    return info(trace)["processes"][0]["how_ended"]


def program(folder, text, name="program.py"):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def same_losses(folder):
    arguments = [os.path.join(HERE, "gpt2.py"), "--steps", "8", "--warm-up", "2", "--layers", "4", "--deterministic"]
    expected = json.loads(bare(arguments).stdout.splitlines()[-1])["losses"]
    seen = json.loads(recorded(folder + "/t.tide", arguments).stdout.splitlines()[-1])["losses"]
    require(expected == seen, f"losses {seen} instead of {expected}")
    return expected[:16]


def unchanged(folder, name, **options):
    """Runs a program of the folder unchanged/, which prints a digest of all its results, three times."""
    arguments = [os.path.join(HERE, "unchanged", f"{name}.py")]
    first, again = (bare(arguments, **options) for _ in range(2))
    require(first.returncode == 0, f"fails without a recording: {first.stderr[-500:]}")
    expected = first.stdout.splitlines()[-1]
    require(again.stdout.splitlines()[-1:] == [expected], "gives another result without a recording, too")
    done = recorded(folder + "/t.tide", arguments, **options)
    require(done.returncode == 0, done.stderr[-800:])
    seen = done.stdout.splitlines()[-1]
    require(expected == seen, f"{seen} instead of {expected}")
    # Other processes of the program may have traces, too.
    traces = [os.path.join(folder, each) for each in os.listdir(folder) if each.endswith(".tide")]
    return f"{expected}, {sum(device['events'] for trace in traces for device in info(trace)['devices'])} events"


def same_profile(folder):
    path = program(folder, PROFILED)
    expected = json.loads(bare([path]).stdout.splitlines()[-1])
    done = recorded(folder + "/t.tide", [path])
    seen = json.loads(done.stdout.splitlines()[-1])
    kernels = [key for key, _ in seen if "::" not in key]
    require(expected == seen, f"torch.profiler saw {seen} instead of {expected}; {done.stderr}")
    gaps = [gap["text"] for gap in info(folder + "/t.tide")["data_gaps"]]
    require(len(gaps) == 1 and "Driver memory" in gaps[0], f"losses {gaps}")
    require("end" not in gaps[0], f"the driver part did not come back: {gaps}")
    return f"{len(seen)} keys, {len(kernels)} of the GPU; {gaps[0]}"


def same_history(folder):
    path = program(folder, HISTORY)
    expected = json.loads(bare([path]).stdout.splitlines()[-1])
    seen = json.loads(recorded(folder + "/t.tide", [path]).stdout.splitlines()[-1])
    require(expected == seen, f"{len(seen)} entries instead of {len(expected)}")
    return f"{len(expected)} entries"


def ends(folder, text, status, words):
    trace = folder + "/t.tide"
    done = recorded(trace, [program(folder, WORK + text)])
    require(done.returncode == status, f"exit status {done.returncode} instead of {status}: {done.stderr[-500:]}")
    end = how_ended(trace)
    require(words in end, f"how it ended: {end!r}")
    require(info(trace)["devices"][0]["allocations"] >= 20, "allocations are missing")
    return end[:60]


def interrupted(folder):
    trace = folder + "/t.tide"
    running = subprocess.Popen(
        [
            TIDEMARK,
            "record",
            "--force",
            "-o",
            trace,
            "--",
            sys.executable,
            program(folder, WORK + "print('up', flush=True); time.sleep(60)"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    running.stdout.readline()
    os.killpg(running.pid, signal.SIGINT)
    status = running.wait(60)
    end = how_ended(trace)
    require("interrupt" in end.lower(), f"how it ended: {end!r}")
    return f"{end[:60]}, exit status {status}"


def recorder_killed(folder):
    trace = folder + "/t.tide"
    kill = (
        "import subprocess\nsubprocess.run(['pkill', '-9', 'tidemark-record'])\ntime.sleep(0.3)\n"
        "more = [torch.ones(1000, device='cuda') for _ in range(1000)]\nprint('alive', flush=True)"
    )
    time_before = time.monotonic()
    done = recorded(trace, [program(folder, WORK + "time.sleep(0.5)\n" + kill)])
    require("alive" in done.stdout and done.returncode == 0, f"{done.returncode} {done.stderr[-500:]}")
    kinds = [gap["kind"] for gap in info(trace)["data_gaps"]]
    require("unclean_end" in kinds, f"data gaps {kinds}")
    require(info(trace)["devices"][0]["allocations"] >= 20, "allocations are missing")
    return f"{time.monotonic() - time_before:.1f} s"


def late_start(folder):
    trace = folder + "/t.tide"
    done = bare([program(folder, LATE), trace, os.path.join(home(), "python")])
    require(done.returncode == 0, done.stderr[-800:])
    compared = 0
    for number, truth in enumerate(json.loads(done.stdout.splitlines()[-1])):
        asked = subprocess.run(
            [TIDEMARK, "stats", trace, "--at", f"mark:m{number}", "--format", "json"], capture_output=True, text=True
        )
        seen = json.loads(asked.stdout)
        for key, value in truth.items():
            if key.endswith(".current"):
                compared += 1
                require(seen[key] == value, f"m{number}: {key} is {seen[key]} instead of {value}")
    return f"{compared} counters"


def ranks(folder):
    done = recorded(folder + "/t.tide", [program(folder, RANKS)])
    names = sorted(name for name in os.listdir(folder) if name.endswith(".tide"))
    require(done.returncode == 0 and len(names) == 2, f"{names}; {done.stderr[-800:]}")
    require(all(f"rank{i}-" in name for i, name in enumerate(names)), str(names))
    return ", ".join(names)


def loader(folder):
    done = recorded(folder + "/t.tide", [program(folder, LOADER)])
    require(done.returncode == 0 and done.stdout.strip() == "780.0", f"{done.stdout} {done.stderr[-800:]}")
    names = [name for name in os.listdir(folder) if name.endswith(".tide")]
    require(names == ["t.tide"], str(names))
    return "one trace"


def no_compiler(folder):
    complete = home()
    lacking = os.path.join(folder, "home", "lib", "tidemark")
    os.makedirs(lacking)
    os.symlink(os.path.join(complete, "..", "..", "bin"), os.path.join(folder, "home", "bin"))
    for part in set(os.listdir(complete)) - {"plugins"}:
        os.symlink(os.path.join(complete, part), os.path.join(lacking, part))
    environment = {**os.environ, "CXX": "false", "TIDEMARK_CACHE": folder, "TIDEMARK_HOME": lacking}
    done = recorded(folder + "/t.tide", [program(folder, WORK)], env=environment)
    require(done.returncode == 0, done.stderr[-800:])
    gaps = [gap["text"] for gap in info(folder + "/t.tide")["data_gaps"]]
    require(any("could not be built" in gap for gap in gaps), f"data gaps {gaps}")
    history = info(folder + "/t.history.tide")
    require(history["devices"][0]["allocations"] >= 20, f"{history['devices']}")
    return f"PyTorch's own history, {history['devices'][0]['events']} events"


UNCHANGED = [
    file[:-3]
    for file in sorted(os.listdir(os.path.join(HERE, "unchanged")))
    if file.endswith(".py") and file != "digest.py"
]

CHECKS = {
    "same losses, bit for bit": same_losses,
    **{f"unchanged: {name}": functools.partial(unchanged, name=name) for name in UNCHANGED},
    "torch.profiler sees the same": same_profile,
    "the program's own memory history is the same": same_history,
    "ends by itself": lambda folder: ends(folder, "", 0, "exited"),
    "sys.exit(5)": lambda folder: ends(folder, "sys.exit(5)", 5, "exited"),
    "an exception nobody catches": lambda folder: ends(folder, "raise ValueError('no')", 1, "ValueError: no"),
    "os._exit(3)": lambda folder: ends(folder, "os._exit(3)", 3, "exited 3"),
    "SIGKILL": lambda folder: ends(folder, "os.kill(os.getpid(), 9)", 137, "killed by signal 9"),
    "Ctrl-C": interrupted,
    "the recorder is killed": recorder_killed,
    "recording starts late": late_start,
    "two ranks": ranks,
    "DataLoader workers": loader,
    "no compiler for the plugin": no_compiler,
}


# Kills the recorders of all checks, so it runs last.
LAST = "the recorder is killed"


def passes(name):
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(f"ok     {name}: {CHECKS[name](folder)}", flush=True)
            return True
        except Exception as failure:
            print(f"WRONG  {name}: {type(failure).__name__} {failure}", flush=True)
            return False


def main():
    wanted = [name for name in CHECKS if len(sys.argv) <= 2 or any(word in name for word in sys.argv[2:])]
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 4)) as pool:
        passed = list(pool.map(passes, [name for name in wanted if name != LAST]))
    passed += [passes(LAST)] if LAST in wanted else []
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
