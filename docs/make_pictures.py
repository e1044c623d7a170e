#!/usr/bin/env python3
"""Draws the pictures of the docs and renews what the pages of findings quote from `tidemark explain`.

    docs/make_pictures.py RECORDED [--build build/release] [--only NAME]... [--replace OLD=NEW]...

RECORDED is a folder of traces NAME.medium.tide, as written by tests/corpus/record.py or as packed in
tests/data/corpus/medium.tar.xz. NAME is a finding, or a picture of docs/images. --replace removes paths of the
recording machine, see tests/data/neutral_paths.py. Needs Pillow and zopfli, which make the pictures small.
"""

import argparse
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "findings"
LARGEST_BYTES = 60_000
SIZE = "1400x790"
SIZE_WITH_GRAPH = "1600x760"  # the pane of the graph is wider

# The trace that shows each finding best, and the options that draw the window on it.
SHOWN = {
    "retained-graph": ("s01_list_of_cpu_outputs", "--pane", "graph"),
    "eval-without-no-grad": ("s10_validation_without_no_grad", "--stack-by", "category", "--pane", "segments"),
    "loss-accumulated-with-graph": ("w01_evaluate", "--stack-by", "category", "--pane", "segments"),
    "hidden-state-not-detached": ("w03_hidden_state_carried", "--pane", "segments"),
    "create-graph-cycle": ("w05_create_graph_cycle", "--pane", "summary"),
    "hook-reference-cycle": ("w06_hook_cycle", "--pane", "segments"),
    "hook-retains-activations": ("w09_forward_hook_stores", "--stack-by", "module", "--pane", "summary"),
    "ctx-retains-tensors": ("w10_tensor_on_ctx", "--pane", "segments"),
    "growing-container": ("w02_outputs_in_dict", "--pane", "summary"),
    "exception-retains-frames": ("w25_exception_kept", "--pane", "summary"),
    "autocast-cache": ("w29_autocast_cache", "--stack-by", "op", "--pane", "segments"),
    "cuda-graph-pools-grow": ("w28_graph_for_each_shape", "--stack-by", "pool", "--pane", "segments"),
    "non-pytorch-growth": ("w24_library_takes_more", "--pane", "breakdown"),
    "pinned-memory-growth": ("w31_pinned_memory",),
    "unexplained-growth": ("tests/data/snapshots/s0_graph_leak.pickle", "--pane", "summary"),
    "out-of-memory": ("s09_list_until_out_of_memory", "--pane", "segments"),
    "fragmentation": ("w15_fragmentation", "--pane", "segments"),
    "garbage-cycles": ("w26_reference_cycles", "--pane", "summary"),
    "stale-local": ("w27_local_of_previous_round", "--pane", "segments"),
    "retain-grad": ("w08_retain_grad", "--stack-by", "category", "--pane", "graph"),
    "gradients-not-cleared": ("w12_gradients_in_forward", "--stack-by", "category", "--pane", "graph"),
    "checkpoint-on-gpu": ("w30_checkpoint_on_gpu", "--stack-by", "category", "--pane", "graph"),
    "saved-in-two-dtypes": ("w32_saved_twice", "--stack-by", "category", "--pane", "graph"),
    "pending-free": ("w17_record_stream", "--pane", "segments"),
    "empty-cache-thrash": ("s05_empty_cache_each_step", "--pane", "breakdown"),
    "broadcast-materialized": ("s14_loss_beside_memory", "--pane", "segments"),
    "workspace-burst": ("w18_cudnn_workspace", "--stack-by", "op", "--pane", "graph"),
    "stray-context": ("w21_stray_context", "--pane", "graph"),
    "profiler-overhead": ("w34_profiler_takes_memory", "--pane", "breakdown"),
    "optimizer-state": ("s13_adam_first_step", "--stack-by", "category", "--pane", "segments"),
    "gradient-accumulation": ("w13_gradient_accumulation", "--stack-by", "category", "--pane", "graph"),
    "second-iteration-peak": ("s12_three_linears", "--stack-by", "category", "--pane", "segments"),
    "reserved-high-water": ("s11_validation_sizes", "--pane", "segments"),
    "outlier-iteration": ("w33_one_longer_batch", "--pane", "summary"),
    "released-graph": ("s03_second_backward", "--pane", "graph"),
    "op-temporary": ("s04_gigabyte_times_five", "--stack-by", "category", "--pane", "graph"),
    "live-variables": ("s07_six_names", "--pane", "segments"),
    "block-reuse": ("s08_after_a_big_one", "--pane", "segments"),
    "bounded-cache": ("h08_cache_of_constant_size", "--pane", "segments"),
    "collective-buffers": ("w22_process_groups", "--pane", "breakdown"),
    "steady": ("s02_detached", "--pane", "segments"),
    "cached-memory": ("w16_reserved_above_allocated", "--pane", "breakdown"),
    "library-workspace": ("w19_cublas_workspaces", "--stack-by", "category", "--pane", "segments"),
    "private-pools": ("tests/data/recorded/graphs.tide", "--stack-by", "pool", "--pane", "segments"),
    "cuda-context": ("s06_one_element", "--pane", "breakdown"),
    "other-processes": ("w23_other_process", "--pane", "breakdown"),
}

# The pictures of the user guide and the README: the trace and the options.
GUIDE = {
    "why": "s10_validation_without_no_grad window --finding 1 --stack-by category --size 1500x880",
    "window": "gpt2 window --stack-by category --size 1600x900",
    "table": "gpt2 window --stack-by category --pane table --size 1600x900",
    "breakdown": "s11_validation_sizes breakdown --at end --size 1400x520",
}


class Tools:
    def __init__(self, build):
        self.command = build / "recorder" / "cli" / "tidemark"
        self.window = build / "gui" / "tidemark-gui"

    def explain(self, trace, *options):
        environment = {**os.environ, "COLUMNS": "96", "NO_COLOR": "1"}
        command = [self.command, "explain", trace, "--language", "en", *options]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    def draw(self, trace, picture, finding, options):
        """Draws the window with the finding selected. Background findings have no card: nothing is selected."""
        size = SIZE_WITH_GRAPH if "graph" in options else SIZE
        selected = [] if finding.is_background else ["--finding", str(finding.number)]
        self.render(trace, picture, "window", "--size", size, "--device", str(finding.device), *selected, *options)

    def render(self, trace, picture, view, *options):
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        command = [self.window, "--render", view, *options, "-o", picture, trace]
        subprocess.run(command, env=environment, check=True)


def neutral_copy(tools, source, folder, name, replacements):
    """Returns a copy of the trace without paths of the recording machine. Imports a snapshot."""
    copy = folder / f"{name}.tide"
    if source.suffix == ".tide":
        shutil.copy(source, copy)
    else:
        subprocess.run([tools.command, "import", source, "-o", copy], check=True, capture_output=True)
    if replacements:
        rewrites = [part for pair in replacements for part in ("--replace", pair)]
        subprocess.run([sys.executable, ROOT / "tests/data/neutral_paths.py", copy, *rewrites], check=True)
    return copy


class Found(typing.NamedTuple):
    device: int
    number: int  # as the text and the window count
    is_background: bool


def find(tools, trace, word):
    """Returns the first finding of this kind."""
    devices = json.loads(tools.explain(trace, "--format", "json"))
    for device in devices if isinstance(devices, list) else [devices]:
        for position, finding in enumerate(device["findings"]):
            if finding["kind"] == word:
                return Found(device["device"], position + 1, finding["severity"] == "background")
    raise SystemExit(f"{trace.name} shows no {word}")


def in_few_colors(picture, count):
    from PIL import Image

    return picture.quantize(count, Image.Quantize.MEDIANCUT, kmeans=2, dither=Image.Dither.NONE)


def save_small(png, path):
    import zopfli.png
    from PIL import Image

    picture = Image.open(png).convert("RGB")
    for colors in (128, 96, 64, 48, 32):
        packed = io.BytesIO()
        in_few_colors(picture, colors).save(packed, "PNG", optimize=True)
        if len(packed.getvalue()) <= LARGEST_BYTES * 9 // 8:  # zopfli saves the rest
            break
    path.write_bytes(zopfli.png.optimize(packed.getvalue(), num_iterations=3, filter_strategies="0"))


def reported(tools, trace, finding):
    """Returns what explain prints about the finding, without evidence and fixes: the page describes those itself."""
    lines: list[str] = []
    part, wanted = False, False
    for line in tools.explain(trace, "--all", "--device", str(finding.device)).splitlines():
        heading = re.match(r" ?(\d+)\. ", line)
        if heading:
            wanted, part = int(heading[1]) == finding.number, True
        if wanted and not line:
            break
        if wanted:
            if re.match(r"    \S", line):
                part = not re.match(r"    (Where to look|Recommended fix)", line)
                lines += [] if part or lines[-1] == "    [...]" else ["    [...]"]
            lines += [line] if part else []
    return "\n".join(lines)


def update_page(path, name, text):
    page = path.read_text()
    quoted = f"```\n$ tidemark explain {name}.tide\n{text}\n```"
    path.write_text(re.sub(r"```\n\$ tidemark explain .*?\n```", lambda _: quoted, page, count=1, flags=re.DOTALL))


def draw_finding(tools, options, folder, word):
    shown, *how = SHOWN[word]
    is_path = "/" in shown
    source = ROOT / shown if is_path else options.recorded / f"{shown}.medium.tide"
    name = source.stem if is_path else shown
    trace = neutral_copy(tools, source, folder, name, options.replace)
    finding = find(tools, trace, word)
    tools.draw(trace, folder / "window.png", finding, how)
    save_small(folder / "window.png", PAGES / "images" / f"{word}.png")
    renew_page(PAGES / f"{word}.md", name, reported(tools, trace, finding))


def draw_guide(tools, folder, name):
    trace, *how = GUIDE[name].split()
    tools.render(ROOT / "resources" / "examples" / f"{trace}.tide", folder / "guide.png", *how)
    save_small(folder / "guide.png", ROOT / "docs" / "images" / f"{name}.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recorded", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--only", action="append", choices=[*SHOWN, *GUIDE])
    parser.add_argument("--replace", action="append", default=[], metavar="OLD=NEW")
    options = parser.parse_args()
    tools = Tools(options.build.resolve())
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.only or [*SHOWN, *GUIDE]:
            if name in SHOWN:
                draw_finding(tools, options, pathlib.Path(scratch), name)
            else:
                draw_guide(tools, pathlib.Path(scratch), name)
            print(name)


if __name__ == "__main__":
    main()
