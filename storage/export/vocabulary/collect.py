#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Collects the public names that a redacted trace may keep, into the lists beside this file.

    collect.py FOLDER...

Run it with the Python of an environment that has PyTorch. Each FOLDER contains further public packages, for example
unpacked wheels. It adds to the lists and never removes: names of older versions stay. packages.txt, libraries.txt and
devices.txt are written by hand.
"""

import ast
import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import torch

LISTS = Path(__file__).parent
# Parts of packages whose names rarely appear in stacks and would only make the lists longer.
SKIPPED = {"test", "tests", "testing", "onnx", "_numpy", "_inductor", "_vendor", "_export", "export", "ao", "models"}
# The standard library's modules that call a program's code.
STANDARD = "runpy threading functools contextlib asyncio concurrent multiprocessing importlib queue unittest weakref"
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def sources(root: Path) -> Iterator[Path]:
    """Yields the Python files of a module, package or folder of packages, without its tests."""
    for path in [root.with_suffix(".py")] if not root.is_dir() else sorted(root.rglob("*.py")):
        folders = path.relative_to(root.parent).parts[:-1]
        if not any(folder in SKIPPED or folder.endswith(("_test", "-info")) for folder in folders):
            yield path


def names_of(path: Path) -> Iterator[tuple[str, bool]]:
    """Yields the classes and functions of a file, and whether each is an autograd function."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name, any(ast.unparse(base).split(".")[-1] == "Function" for base in node.bases)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, False


def collect_python(root: Path, words: set[str], nodes: set[str]) -> None:
    for path in sources(root):
        words.update(part.removesuffix(".py") for part in path.relative_to(root.parent).parts)
        for name, is_autograd in names_of(path):
            words.add(name)
            if is_autograd:
                nodes.add(name + "Backward")


def collect_headers(include: Path, words: set[str], nodes: set[str], saved: set[str]) -> None:
    for path in include.rglob("*.h"):
        if "ops" not in path.parts:  # ATen has one file per op
            words.update(part.removesuffix(".h") for part in path.relative_to(include).parts)
        text = path.read_text(encoding="utf-8", errors="ignore")
        nodes.update(re.findall(r"struct (?:TORCH_API )?(\w+) ?: public (?:\w+::)*(?:TraceableFunction|Node)\b", text))
        nodes.update(re.findall(r'name\(\) const override \{ return "(\w+)"', text))
        saved.update(re.findall(r"\bSavedVariable (\w+?)_;", text))
        saved.update(re.findall(r"std::vector<SavedVariable> (\w+?)_;", text))


def write(name: str, found: set[str]) -> None:
    path = LISTS / name
    known = set(path.read_text(encoding="utf-8").split("\n")) if path.exists() else set()
    path.write_text("\n".join(sorted((known | found) - {""})) + "\n", encoding="utf-8")


def main(folders: list[Path]) -> None:
    words: set[str] = set()
    nodes: set[str] = set()
    saved: set[str] = set()
    for module in STANDARD.split():
        collect_python(Path(sysconfig.get_paths()["stdlib"]) / module, words, set())
    torch_folder = Path(torch.__file__).parent
    for folder in [torch_folder, *folders]:
        collect_python(folder, words, nodes)
    collect_headers(torch_folder / "include", words, nodes, saved)
    ops = {name.split(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    write("ops.txt", {op for op in ops if not op.startswith("_test::")})
    write("nodes.txt", nodes)
    write("saved.txt", saved)
    write("modules.txt", set(sys.stdlib_module_names))
    write("words.txt", {word for word in words if len(word) > 1 and WORD.fullmatch(word)})


if __name__ == "__main__":
    main([Path(folder) for folder in sys.argv[1:]])
