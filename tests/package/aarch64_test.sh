#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

# Explains traces with a command that was compiled for 64-bit ARM, and compares with what this machine's command says.
#
#   aarch64_test.sh BUILD OWN-BUILD     such as build/aarch64 build/release
#
# Needs qemu-user-static, binutils-aarch64-linux-gnu and the C library of arm64 (libc6:arm64).
set -euo pipefail

build=$1
own=$2
source_root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

arm() { LC_ALL=C.UTF-8 qemu-aarch64-static "$build/recorder/cli/tidemark" "$@"; }
here() { LC_ALL=C.UTF-8 "$own/recorder/cli/tidemark" "$@"; }

# Both have to end alike: some traces have findings that set the exit status.
compare() {
  local here_status=0 arm_status=0
  here "$@" >"$work/here" 2>&1 || here_status=$?
  arm "$@" >"$work/arm" 2>&1 || arm_status=$?
  [[ $here_status == "$arm_status" ]] || fail "tidemark $*: status $arm_status, not $here_status"
  diff "$work/here" "$work/arm" >&2 || fail "tidemark $* says something else on 64-bit ARM"
}

arm --version
count=0
for trace in "$source_root"/tests/data/traces/*.tide "$source_root"/resources/examples/*.tide; do
  for command in info explain "explain --format json" breakdown top; do
    # shellcheck disable=SC2086 # a command with its options
    compare $command "$trace"
  done
  count=$((count + 1))
done
compare import "$source_root/tests/data/snapshots/s0_graph_leak.pickle" -o "$work/run.tide" --force
for library in "$build"/recorder/lib/tidemark/*.so "$build"/recorder/lib/tidemark/tidemark-recorder; do
  aarch64-linux-gnu-readelf -h "$library" | grep -q 'Machine: *AArch64' || fail "$library is not for 64-bit ARM"
done
echo "$count traces are explained alike on 64-bit ARM."
