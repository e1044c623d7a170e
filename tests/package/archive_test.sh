#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

# Unpacks the archives and uses their programs there, without root, a compiler, libraries for windows or fonts.
#
#   archive_test.sh FOLDER     with the archives
set -euo pipefail

recorder=$(realpath "$1"/tidemark-recorder-*.tar.gz)
viewer=$(realpath "$1"/tidemark-viewer-*.tar.gz)
work=$(mktemp -d)
trap '/bin/rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# at_most MIB FILE
at_most() {
  local size
  size=$(stat -c %s "$2")
  ((size <= $1 << 20)) || fail "$(basename "$2") has $((size >> 10)) KiB, more than $1 MiB"
}

# Runs a program of the archives: it must not depend on the tester's settings.
run() {
  local settings=()
  while [[ $1 == *=* ]]; do
    settings+=("$1")
    shift
  done
  env -i HOME="$work" PATH=/usr/bin:/bin LC_ALL=C.UTF-8 XDG_RUNTIME_DIR="$work" "${settings[@]}" \
    timeout 120 "$bin/$1" "${@:2}"
}

at_most 10 "$recorder"
at_most 45 "$viewer"
began=$SECONDS
tar --extract --file "$recorder"
bin=$(echo "$work"/tidemark-*/bin)
share=$bin/../share
tar --extract --file "$viewer"
examples=$share/tidemark/examples
for trace in "$examples"/*.tide; do
  run tidemark explain "$trace" >explained.txt || fail "explain $trace"
  [[ -s explained.txt ]] || fail "nothing is explained of $trace"
done
echo "From the archives to explanations: $((SECONDS - began)) s"

for license in tidemark-recorder/{LICENSE,Apache-2.0.txt} tidemark-viewer/{LICENSE,GPL-3.0-or-later.txt} \
  tidemark-viewer/libraries/{README,LGPL-3.txt}; do
  [[ -s $share/doc/$license ]] || fail "$license is missing"
done
for library in "$bin"/../lib/tidemark-gui/{qt/lib,qt/plugins/*,system}/*.so*; do
  [[ -z $(find "$library" -perm /022) ]] || fail "others may write $library"
done

# A program that uses no GPU: recorded, and the end says so.
compgen -G "$bin/../lib/tidemark/plugins/plugin-*.so" >plugins.txt || fail "the recorder has no plugins"
run tidemark record -o run.tide -- /usr/bin/python3 -c 'print("it ran")' >out.txt 2>&1 || fail "record: $(<out.txt)"
[[ $(<out.txt) == *"it ran"* ]] || fail "the recorded program did not run"
run tidemark doctor -- /usr/bin/python3 >doctor.txt || (($? == 4)) || fail "doctor: $(<doctor.txt)"

is_png() { [[ $(head -c 8 "$1" | od -An -tx1 | tr -d ' \n') == 89504e470d0a1a0a ]]; }
for language in en zh_CN; do
  run tidemark render "$examples/s01_list_of_cpu_outputs.tide" --language "$language" -o "$language.png" 2>err.txt ||
    fail "the window does not start: $(<err.txt)"
  [[ ! -s err.txt ]] || fail "the window warns, perhaps that it finds no fonts: $(<err.txt)"
  is_png "$language.png" || fail "the window drew no picture"
done
run tidemark-gui --version >version.txt || fail "the window says no version"
# says_no_display PLATFORM VARIABLE=DISPLAY: the part of Qt for these displays loads, and the window says in one sentence
# that it cannot be shown.
says_no_display() {
  local status=0
  run QT_QPA_PLATFORM="$1" "$2" QT_DEBUG_PLUGINS=1 tidemark-gui >out.txt 2>&1 || status=$?
  [[ $status == 4 ]] && grep -q "libq$1.so\" loaded library" out.txt && grep -q "cannot start its platform $1" out.txt
}
says_no_display xcb DISPLAY=:987 || fail "X: $(<out.txt)"
says_no_display wayland WAYLAND_DISPLAY=none || fail "Wayland: $(<out.txt)"
echo "The archives work."
