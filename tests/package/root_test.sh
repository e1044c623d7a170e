#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

# Tests the archives and the wheels in a fresh, minimal system of its own, as a user who is not root and has no compiler.
#
#   root_test.sh SUITE FOLDER      bookworm, trixie (Debian) or noble (Ubuntu 24.04), and the folder with the packages
#
# Needs root and debootstrap. Each run gets an unused system; that of build/roots/SUITE stays as it was made.
set -euo pipefail

suite=$1
packages=$(realpath "$2")
source_root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
unused=$source_root/build/roots/$suite
log=$unused.log

fail() {
  echo "FAILED in $suite: $*" >&2
  exit 1
}

bootstrap_options() {
  case $suite in
    noble) echo --no-check-gpg --components=main,universe noble "$unused" http://archive.ubuntu.com/ubuntu gutsy ;; # its script
    *) echo "$suite" "$unused" http://deb.debian.org/debian ;;
  esac
}

in_root() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/home/user chroot "$root" "$@"; }
as_user() { in_root su user -s /bin/bash -c "$1"; }

if [[ ! -e $unused.made ]]; then
  rm -rf "$unused"
  mkdir -p "$unused"
  # shellcheck disable=SC2046 # a list of words
  debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates $(bootstrap_options) >"$log" 2>&1 ||
    fail "debootstrap, see $log"
  chroot "$unused" useradd --create-home user
  touch "$unused.made"
fi

# What the run writes stays beside the unused system.
work=$(mktemp -d)
root=$work/root
clean_up() {
  umount --quiet "$root/proc" "$root" || true
  rm -rf "$work"
}
trap clean_up EXIT
mkdir "$root" "$work/written" "$work/scratch"
mount -t overlay overlay -o "lowerdir=$unused,upperdir=$work/written,workdir=$work/scratch" "$root"
mount -t proc proc "$root/proc" # the loader finds libraries beside a program by it
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # this network's proxies may have certificates of their own
in_root which g++ cc && fail "the system has a compiler"

home=$root/home/user
mkdir -p "$home/packages" "$home/tests/package" "$home/resources"
cp "$packages"/tidemark_gpu*.whl "$packages"/tidemark-{recorder,viewer}-*.tar.gz "$home/packages"
cp "$source_root"/tests/package/{wheel,archive}_test.sh "$home/tests/package"
cp -r "$source_root/resources/examples" "$home/resources"
in_root chown -R user /home/user
as_user 'bash ~/tests/package/archive_test.sh ~/packages' || fail "the archives"
as_user 'bash ~/tests/package/wheel_test.sh ~/packages' || fail "the wheel"

as_user 'cd && python3 -m venv env && env/bin/pip install --quiet --find-links packages "tidemark-gpu[gui]"' ||
  fail "tidemark-gpu[gui] cannot be installed"
render='cd && QT_QPA_PLATFORM=offscreen env/bin/tidemark render resources/examples/s01_list_of_cpu_outputs.tide -o window.png'
as_user "$render" 2>"$log" && fail "the window starts in a system that lacks its libraries"
# A minimal system has no libraries for windows. The message names their packages, exactly these.
missing=$(sed -n 's/.*apt-get install \([a-z0-9 .-]*\).*/\1/p' "$log")
[[ -n $missing ]] || fail "the window does not start: $(<"$log")"
echo "The window of the wheel needs these packages: $missing"
# shellcheck disable=SC2086 # a list of words
in_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq --no-install-recommends $missing >"$log" 2>&1 ||
  fail "apt-get install $missing, see $log"
as_user "$render" || fail "the window does not start with $missing"
[[ $(head -c 8 "$home/window.png" | od -An -tx1 | tr -d ' \n') == 89504e470d0a1a0a ]] || fail "the window drew no picture"
echo "The archives and the wheels work in $suite."
