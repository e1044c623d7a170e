#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

# Installs the wheels in a fresh, minimal system of its own, as a user who is not root and has no compiler.
#
#   root_test.sh SUITE FOLDER      bookworm, trixie (Debian) or noble (Ubuntu 24.04), and the folder with the wheels
#
# Needs root and debootstrap. The system stays in build/roots/SUITE for the next run.
set -euo pipefail

suite=$1
packages=$(realpath "$2")
source_root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
root=$source_root/build/roots/$suite

fail() {
  echo "FAILED in $suite: $*" >&2
  exit 1
}

bootstrap_options() {
  case $suite in
    noble) echo --no-check-gpg --components=main,universe noble "$root" http://archive.ubuntu.com/ubuntu gutsy ;; # its script
    *) echo "$suite" "$root" http://deb.debian.org/debian ;;
  esac
}

in_root() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/home/user chroot "$root" "$@"; }
as_user() { in_root su user -s /bin/bash -c "$1"; }

if [[ ! -e $root/made ]]; then
  mkdir -p "$root"
  # shellcheck disable=SC2046 # a list of words
  debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates $(bootstrap_options) >"$root.log" 2>&1 ||
    fail "debootstrap, see $root.log"
  in_root useradd --create-home user
  touch "$root/made"
fi
# The loader needs /proc to find libraries beside a program.
mountpoint --quiet "$root/proc" || mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
in_root which g++ cc && fail "the system has a compiler"
home=$root/home/user
rm -rf "${home:?}"/*
mkdir -p "$home/wheels" "$home/tests/package" "$home/resources"
cp "$packages"/tidemark_gpu*.whl "$home/wheels"
cp "$source_root/tests/package/wheel_test.sh" "$home/tests/package"
cp -r "$source_root/resources/examples" "$home/resources"
in_root chown -R user /home/user
as_user 'bash ~/tests/package/wheel_test.sh ~/wheels' || fail "the wheel"

compgen -G "$packages/tidemark_gpu_gui-*.whl" >/dev/null || exit 0
as_user 'cd && python3 -m venv env && env/bin/pip install --quiet --find-links wheels "tidemark-gpu[gui]"' ||
  fail "tidemark-gpu[gui] cannot be installed"
render='cd && QT_QPA_PLATFORM=offscreen env/bin/tidemark render resources/examples/s01_list_of_cpu_outputs.tide -o window.png'
if ! as_user "$render" 2>"$root.missing"; then
  # A minimal system has no libraries for windows. The message names their packages, exactly these.
  missing=$(sed -n 's/.*apt-get install \([a-z0-9 .-]*\).*/\1/p' "$root.missing")
  [[ -n $missing ]] || fail "the window does not start: $(<"$root.missing")"
  echo "The window needs these packages: $missing"
  # shellcheck disable=SC2086 # a list of words
  in_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq --no-install-recommends $missing >"$root.log" 2>&1 ||
    fail "apt-get install $missing, see $root.log"
  as_user "$render" || fail "the window does not start with $missing"
fi
[[ $(head -c 8 "$home/window.png" | od -An -tx1 | tr -d ' \n') == 89504e470d0a1a0a ]] || fail "the window drew no picture"
echo "The window starts in $suite."
