#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Draws the pictures of the docs and updates what the pages of findings quote, and the index of findings.

    docs/make_pictures.py RECORDED [--build build/release] [--only NAME]... [--replace OLD=NEW]...
    docs/make_pictures.py --tasks FOLDER [--build build/release]

The head of each page of docs/findings says what stands in docs/FINDINGS.md, and from which trace its picture is drawn.

RECORDED is a folder of traces NAME.medium.tide, as written by tests/corpus/record.py or as packed in
tests/data/corpus/medium.tar.xz. NAME is a finding, or a picture of docs/images. --replace removes paths of the
recording machine, see tests/data/neutral_paths.py. --tasks draws the rows of docs/TASKS.md instead:
tests/gui/test_tasks does each task on the traces of FOLDER, whose names it says. Needs Pillow and zopfli, which make
the pictures small.
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
import tarfile
import tempfile
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "findings"
LARGEST_BYTES = 60_000
LARGEST_ROW_BYTES = 150_000  # of several steps
INDEX = ROOT / "docs" / "FINDINGS.md"
KINDS = ROOT / "storage" / "explain" / "finding_kinds.h"
SIZE = "1400x790"
SIZE_WITH_GRAPH = "1600x760"  # the pane of the graph is wider

SEVERITIES = {
    "leak": "Leaks",
    "failure": "Failure",
    "waste": "Waste",
    "pattern": "Patterns",
    "background": "Background",
}  # and the heading of its table in the index


class Page:
    """What the head of docs/findings/WORD.md says about a finding."""

    def __init__(self, word):
        self.path = PAGES / f"{word}.md"
        text = self.path.read_text()
        head = re.search(r"^\*(\w+).*?\* · (.*) · \[all findings\]", text, re.MULTILINE)
        if head is None:
            raise SystemExit(f"{self.path}: the second line must be *severity* · summary · [all findings]")
        drawn = re.search(r"^<!-- drawn from: (.*) -->$", text, re.MULTILINE)
        self.word, self.severity, self.summary = word, head[1], head[2]
        self.shown = drawn[1].split() if drawn else None  # the trace that shows it best, and options of the window


def words():
    """Returns the identifiers of all findings, in the order of the program's list."""
    return re.findall(r'\(\w+, "([a-z-]+)"\)', KINDS.read_text())


def table_with(rows):
    """Returns a replacement for re.sub: the head of the table that matched, with these rows."""
    return lambda table: table[1] + rows


def update_index():
    """Writes the tables of FINDINGS.md from the heads of the pages."""
    pages = [Page(word) for word in words()]
    text = INDEX.read_text()
    for severity, heading in SEVERITIES.items():
        rows = "".join(
            f"| [{page.word}](findings/{page.word}.md) | {page.summary} |\n"
            for page in pages
            if page.severity == severity
        )
        text = re.sub(
            rf"(^## {heading}\n.*?^\|---\|---\|\n)(?:\|[^\n]*\n)*",
            table_with(rows),
            text,
            count=1,
            flags=re.MULTILINE | re.DOTALL,
        )
    INDEX.write_text(text)


# The pictures of the user guide and the README: the trace and the options.
GUIDE = {
    "why": "s10_validation_without_no_grad window --finding 1 --stack-by category --size 1500x880",
    "window": "gpt2 window --stack-by category --size 1600x900",
    "table": "gpt2 window --stack-by category --pane table --size 1600x900",
    "breakdown": "s11_validation_sizes breakdown --at end --size 1400x520",
}

# The job of the user guide: rank 3 of four retains what it evaluates.
JOB = "four_ranks"
JOBS = ROOT / "tests" / "data" / "corpus" / "stages.tar.xz"


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

    return picture.quantize(count, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)


def save_small(png, path, largest=LARGEST_BYTES):
    import zopfli.png
    from PIL import Image

    picture = Image.open(png).convert("RGB")
    for colors in (128, 96, 64, 48, 32):
        packed = io.BytesIO()
        in_few_colors(picture, colors).save(packed, "PNG", optimize=True)
        if len(packed.getvalue()) <= largest * 9 // 8:  # zopfli saves the rest
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
                part = not re.match(r"    (Evidence|Recommended fix)", line)
                lines += [] if part or lines[-1] == "    [...]" else ["    [...]"]
            lines += [line] if part else []
    return "\n".join(lines)


def update_page(path, name, text):
    page = path.read_text()
    quoted = f"```\n$ tidemark explain {name}.tide\n{text}\n```"
    path.write_text(re.sub(r"```\n\$ tidemark explain .*?\n```", lambda _: quoted, page, count=1, flags=re.DOTALL))


def draw_finding(tools, options, folder, page):
    word, (shown, *how) = page.word, page.shown
    is_path = "/" in shown
    source = ROOT / shown if is_path else options.recorded / f"{shown}.medium.tide"
    name = source.stem if is_path else shown
    trace = neutral_copy(tools, source, folder, name, options.replace)
    finding = find(tools, trace, word)
    tools.draw(trace, folder / "window.png", finding, how)
    save_small(folder / "window.png", PAGES / "images" / f"{word}.png")
    update_page(page.path, name, reported(tools, trace, finding))


def draw_guide(tools, folder, name):
    trace, *how = GUIDE[name].split()
    tools.render(ROOT / "resources" / "examples" / f"{trace}.tide", folder / "guide.png", *how)
    save_small(folder / "guide.png", ROOT / "docs" / "images" / f"{name}.png")


def draw_job(tools, folder):
    job = folder / JOB
    job.mkdir()
    with tarfile.open(JOBS) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None and member.name.startswith(f"{JOB}/"):
                (job / pathlib.Path(member.name).name).write_bytes(content.read())
    tools.render(job, folder / "job.png", "window", "--size", "1500x880")
    save_small(folder / "job.png", ROOT / "docs" / "images" / "job.png")


def in_a_row(pictures):
    """Returns one picture of these steps, with their numbers."""
    from PIL import Image, ImageDraw, ImageFont

    gap, radius = 10, 14
    steps = [Image.open(picture).convert("RGB") for picture in pictures]
    width = sum(step.width + gap for step in steps) - gap
    row = Image.new("RGB", (width, max(step.height for step in steps)), "#9aa0a6")
    draw, left = ImageDraw.Draw(row), 0
    for number, step in enumerate(steps, 1):
        row.paste(step, (left, 0))
        center = (left + step.width - radius - 4, step.height - radius - 4)
        draw.ellipse([center[0] - radius, center[1] - radius, center[0] + radius, center[1] + radius], fill="#d81b7a")
        draw.text(center, str(number), fill="white", anchor="mm", font=ImageFont.load_default(18))
        left += step.width + gap
    return row


def draw_tasks(build, traces, folder):
    film = {"TIDEMARK_FILM": str(folder), "TIDEMARK_FILM_TRACES": str(traces.resolve()), "QT_QPA_PLATFORM": "offscreen"}
    test = build / "tests" / "gui" / "gui_test_tasks"
    subprocess.run([test], env={**os.environ, **film}, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tasks = {picture.stem.rsplit("_", 1)[0] for picture in folder.glob("*_*.png")}
    for task in sorted(tasks):
        steps = sorted(folder.glob(f"{task}_*.png"), key=lambda step: int(step.stem.rsplit("_", 1)[1]))
        in_a_row(steps).save(folder / "row.png")
        save_small(folder / "row.png", ROOT / "docs" / "tasks" / f"{task}.png", LARGEST_ROW_BYTES)
        print(task, len(steps))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recorded", type=pathlib.Path, nargs="?")
    parser.add_argument("--tasks", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--only", action="append", choices=[*words(), *GUIDE, "job"])
    parser.add_argument("--replace", action="append", default=[], metavar="OLD=NEW")
    options = parser.parse_args()
    if (options.recorded is None) == (options.tasks is None):
        parser.error("name the folder of recorded traces, or --tasks FOLDER")
    if options.tasks:
        with tempfile.TemporaryDirectory() as scratch:
            draw_tasks(options.build.resolve(), options.tasks, pathlib.Path(scratch))
        return
    update_index()
    tools = Tools(options.build.resolve())
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.only or [*words(), *GUIDE, "job"]:
            if name == "job":
                draw_job(tools, pathlib.Path(scratch))
            elif name not in GUIDE:
                page = Page(name)
                if page.shown:
                    draw_finding(tools, options, pathlib.Path(scratch), page)
            else:
                draw_guide(tools, pathlib.Path(scratch), name)
            print(name)


if __name__ == "__main__":
    main()
