#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

# Installs the wheel into an empty environment and uses it there, without a compiler, root or this repository's builds.
#
#   wheel_test.sh FOLDER     with the wheel
set -euo pipefail

wheel=$(realpath "$1"/tidemark_gpu-*.whl)
examples=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../resources/examples")
work=$(mktemp -d)
trap '/bin/rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

size=$(stat -c %s "$wheel")
((size <= 10 << 20)) || fail "the wheel has $((size >> 10)) KiB, more than 10 MiB"

began=$SECONDS
python3 -m venv env
env/bin/pip install --quiet --no-index "$wheel"
export PATH=$work/env/bin:/nothing HOME=$work
unset TIDEMARK_HOME PYTHONPATH
tidemark --version | env/bin/python -c 'import sys; sys.exit("tidemark" not in sys.stdin.read().lower())'
for trace in "$examples"/*.tide; do
  tidemark explain "$trace" >explained.txt || fail "explain $trace"
  [[ -s explained.txt ]] || fail "nothing is explained of $trace"
done
echo "From an empty folder to an explanation: $((SECONDS - began)) s"

env/bin/python - <<'P'
import glob
import os
import sys
import tidemark
import tidemark.integrations
from importlib.metadata import entry_points
from tidemark import _core

assert not {"numpy", "torch", "pyarrow", "pandas", "IPython"} & set(sys.modules), "the import is heavy"
assert "tidemark_gpu" in tidemark.__file__, tidemark.__file__
assert entry_points(group="pytest11")["tidemark"].value == "tidemark.integrations.pytest_plugin"
assert os.path.getsize(os.path.join(_core.home(), "../../share/doc/tidemark-recorder/FORMAT.md"))
assert glob.glob(os.path.join(_core.home(), "plugins", "plugin-*.so")), "the wheel has no plugins"
P
env/bin/python - "$examples"/s01_list_of_cpu_outputs.tide <<'P' || fail "tidemark.open"
import sys
import tidemark

run = tidemark.open(sys.argv[1])
print(f"Python reads {len(run.events)} events; {run.summary.splitlines()[0]}")
assert len(run.findings()) > 0 and "<svg" in run._repr_html_()
P
tidemark doctor -- "$work/env/bin/python" >doctor.txt || (($? == 4)) || fail "doctor: $(<doctor.txt)"
[[ $(<doctor.txt) == *"virtual environment $work/env"* ]] || fail "doctor: $(<doctor.txt)"
# A program that uses no GPU: recorded, and the end says so.
tidemark record -o run.tide -- "$work/env/bin/python" -c 'print("it ran")' >out.txt 2>&1 || fail "record: $(<out.txt)"
[[ $(<out.txt) == *"it ran"* ]] || fail "the recorded program did not run"
echo "The wheel works."
