#!/usr/bin/env python3
"""Records memory snapshots with ground truth on a machine with a GPU and PyTorch.

    record_snapshots.py OUT_DIR [CASE ...]

Each case runs in its own process, because allocator settings are read once. For every case it writes NAME.pickle, the
snapshot, and NAME.json with `marks`: [label, [events so far per device], time in us, [memory_stats() per device]].
File names inside the snapshots are replaced with neutral ones.
"""

import json
import os
import pickle
import subprocess
import sys
import time

CASES = {
    # name: (PYTORCH_CUDA_ALLOC_CONF, function)
    "roundup": ("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]", "varied"),
    "max_split": ("max_split_size_mb:64", "varied"),
    "gc_threshold": ("garbage_collection_threshold:0.6,max_split_size_mb:128", "limited"),
    "expandable_mixed": ("expandable_segments:True", "varied"),
    "expandable_graph": ("expandable_segments:True", "graphs"),
    "amp": ("", "amp"),
    "mempool": ("", "mempool"),
    "late_start": ("", "late"),
    "ring_small": ("", "ring"),
    "record_stream": ("", "streams"),
    "two_gpus": ("", "two_gpus"),
    "oom_retry": ("", "oom"),
}


class Recording:
    def __init__(self, torch, max_entries=1_000_000, start=True):
        self.torch, self.max_entries, self.marks = torch, max_entries, []
        if start:
            self.start()

    def start(self):
        self.torch.cuda.memory._record_memory_history(max_entries=self.max_entries, stacks="python")

    def mark(self, label):
        torch = self.torch
        counts = [len(t) for t in torch.cuda.memory._snapshot()["device_traces"]]
        stats = [dict(torch.cuda.memory_stats(d)) for d in range(torch.cuda.device_count())]
        # The snapshot just taken adds one event to each device that was counted before it.
        self.marks.append([label, counts, time.time_ns() // 1000, stats])

    def save(self, out, name):
        snapshot = self.torch.cuda.memory._snapshot()
        rewrite(snapshot)
        with open(os.path.join(out, name + ".pickle"), "wb") as f:
            pickle.dump(snapshot, f)
        with open(os.path.join(out, name + ".json"), "w") as f:
            json.dump({"case": name, "torch": self.torch.__version__, "marks": self.marks}, f)


def rewrite(snapshot):
    seen = {}

    def frames_of(thing):
        for frame in thing.get("frames") or []:
            if id(frame) in seen:
                continue
            seen[id(frame)] = frame
            name = frame["filename"]
            for part in ("site-packages/", "dist-packages/"):
                if part in name:
                    name = "/home/user/venv/lib/python3.12/site-packages/" + name.split(part, 1)[1]
            if name.startswith("/") and not name.startswith("/home/user/"):
                name = ("/usr/lib/python3.12/" if "python3" in name else "/home/user/train/") + os.path.basename(name)
            frame["filename"] = name

    for segment in snapshot["segments"]:
        frames_of(segment)
        for block in segment["blocks"]:
            frames_of(block)
    for trace in snapshot["device_traces"]:
        for event in trace:
            frames_of(event)


def varied(torch, r):
    import random

    rng = random.Random(7)
    held = []
    for step in range(60):
        for _ in range(8):
            held.append(
                torch.empty(
                    rng.choice([100, 3_000, 70_000, 900_000, 1_500_000, 7_000_000, 30_000_000, 90_000_000])
                    + rng.randrange(5_000),
                    dtype=torch.uint8,
                    device="cuda",
                )
            )
        while len(held) > 25:
            held.pop(rng.randrange(len(held)))
        if step % 15 == 14:
            r.mark(f"step{step}")
    held.clear()
    r.mark("cleared")
    torch.cuda.empty_cache()
    r.mark("emptied")


def limited(torch, r):
    torch.cuda.set_per_process_memory_fraction(4 * 2**30 / torch.cuda.get_device_properties(0).total_memory)
    import random

    rng = random.Random(3)
    held = []
    for step in range(80):
        held.append(torch.empty(rng.randrange(20, 400) << 20, dtype=torch.uint8, device="cuda"))
        while sum(t.numel() for t in held) > 2 * 2**30:
            held.pop(rng.randrange(len(held)))
        if step % 20 == 19:
            r.mark(f"step{step}")


def model(torch, width=512):
    return torch.nn.Sequential(
        torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)
    ).cuda()


def graphs(torch, r):
    net = model(torch)
    x = torch.randn(64, 512, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            net(x)
    torch.cuda.synchronize()
    r.mark("warm")
    kept = []
    for batch in (16, 64, 256):
        graph, inp = torch.cuda.CUDAGraph(), torch.randn(batch, 512, device="cuda")
        with torch.cuda.graph(graph):
            out = net(inp)
        kept.append((graph, inp, out))
        r.mark(f"captured{batch}")
    kept.pop(1)
    del graph, inp, out
    torch.cuda.empty_cache()
    r.mark("one_gone")


def amp(torch, r):
    net, opt = model(torch, 768), None
    opt = torch.optim.AdamW(net.parameters())
    for step in range(6):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = net(torch.randn(64 + 32 * step, 768, device="cuda")).square().mean()
        r.mark(f"forward{step}")
        loss.backward()
        opt.step()
        opt.zero_grad()
        r.mark(f"step{step}")


def mempool(torch, r):
    pool = torch.cuda.MemPool()
    a = torch.empty(5_000_000, device="cuda")
    with torch.cuda.use_mem_pool(pool):
        b = [torch.empty(n, device="cuda") for n in (1_000, 3_000_000, 9_000_000)]
    r.mark("both")
    del b[1]
    c = torch.empty(2_000_000, device="cuda")
    r.mark("hole")
    del a, b, c
    torch.cuda.empty_cache()
    r.mark("emptied")


def late(torch, r):
    net = model(torch, 1024)
    opt = torch.optim.Adam(net.parameters())

    def step(n):
        loss = net(torch.randn(n, 1024, device="cuda")).square().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()

    for n in (700, 350, 901):
        step(n)
    held = [torch.empty(n << 19, device="cuda") for n in range(1, 12)]
    del held[::2]
    r.start()
    for k, n in enumerate((512, 703, 350, 1200, 90)):
        step(n)
        if held:
            held.pop()
        r.mark(f"step{k}")


def ring(torch, r):
    late(torch, r)


def streams(torch, r):
    side = torch.cuda.Stream()
    for step in range(20):
        x = torch.randn(1 << 20, device="cuda")
        with torch.cuda.stream(side):
            y = x * 2
            torch.cuda._sleep(20_000_000)
            x.record_stream(side)
        del x
        if step % 5 == 4:
            r.mark(f"step{step}")
    torch.cuda.synchronize()
    del y
    torch.empty(16, device="cuda")
    r.mark("synced")


def two_gpus(torch, r):
    for d in range(torch.cuda.device_count()):
        net = torch.nn.Linear(2048, 2048 + 512 * d).to(f"cuda:{d}")
        out = net(torch.randn(128, 2048, device=f"cuda:{d}"))
        r.mark(f"on{d}")
    out.sum().backward()
    r.mark("backward")


def oom(torch, r):
    torch.cuda.set_per_process_memory_fraction(2 * 2**30 / torch.cuda.get_device_properties(0).total_memory)
    held = [torch.empty(100 << 20, dtype=torch.uint8, device="cuda") for _ in range(18)]
    del held[::3]
    torch.cuda.empty_cache()
    r.mark("emptied")
    held.append(torch.empty(250 << 20, dtype=torch.uint8, device="cuda"))
    del held[0]
    r.mark("hole")
    held.append(torch.empty(300 << 20, dtype=torch.uint8, device="cuda"))
    r.mark("retried")
    try:
        torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        pass
    r.mark("oom")


def run_case(out, name):
    import torch

    function = globals()[CASES[name][1]]
    entries = 120 if name == "ring_small" else 1_000_000
    recording = Recording(torch, entries, start=CASES[name][1] not in ("late", "ring"))
    torch.cuda.init()
    function(torch, recording)
    recording.save(out, name)


def main():
    out = sys.argv[1]
    if len(sys.argv) == 4 and sys.argv[2] == "--one":
        run_case(out, sys.argv[3])
        return
    os.makedirs(out, exist_ok=True)
    for name in sys.argv[2:] or CASES:
        env = dict(os.environ, PYTORCH_CUDA_ALLOC_CONF=CASES[name][0])
        done = subprocess.run([sys.executable, __file__, out, "--one", name], env=env)
        print(name, "failed" if done.returncode else "recorded", flush=True)


if __name__ == "__main__":
    main()
