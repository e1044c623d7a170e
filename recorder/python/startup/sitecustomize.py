# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Starts the recorder in an unchanged program, or lets it wait for the request to record. `tidemark record` puts the
folder of this file on PYTHONPATH.

Python imports one `sitecustomize` at startup. This one starts the recorder and then runs the next one on the path,
which it hides.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _start_recorder():
    here = os.path.dirname(os.path.abspath(__file__))
    package_folder = os.path.join(os.path.dirname(here), "python")
    if os.environ.get("TIDEMARK_RECORD") == "paused":
        _wait_for_request(package_folder, "paused")
    elif os.environ.get("TIDEMARK_RECORD") == "1":
        _arm(package_folder)
    elif os.environ.get("TIDEMARK_ATTACHABLE") == "1":
        _wait_for_request(package_folder, "attachable")


def _wait_for_request(package_folder, state):
    import tidemark_listener

    tidemark_listener.listen(package_folder, state)


def _arm(package_folder):
    sys.path.insert(0, package_folder)
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
