# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Starts the recorder in an unchanged program. `tidemark record` puts the folder of this file on PYTHONPATH.

Python imports one `sitecustomize` at startup. This one starts the recorder and then runs the next one on the path,
which it hides.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _start_recorder():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.path.join(os.path.dirname(here), "python"))
    try:
        from tidemark import _startup
    finally:
        del sys.path[0]
    _startup.arm()


def _run_hidden_sitecustomize():
    here = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


try:
    _start_recorder()
except Exception as failure:  # no failure of the recorder may end the program
    print(f"tidemark: not recording: {failure}", file=sys.stderr)
_run_hidden_sitecustomize()
