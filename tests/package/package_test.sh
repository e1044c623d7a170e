#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

# Installs the built packages into an empty root, runs their programs, and checks their desktop files.
# Usage: package_test.sh FOLDER-WITH-PACKAGES
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_root=$(cd "$here/../.." && pwd)
packages=$(cd "${1:?usage: package_test.sh FOLDER-WITH-PACKAGES}" && pwd)
version=$(sed -n 's/^project(Tidemark VERSION \([0-9.]*\).*/\1/p' "$source_root/CMakeLists.txt")
viewer_id=org.tidemark.Tidemark

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
checked=0

fail() {
  printf 'package test: FAILED: %s\n' "$*" >&2
  exit 1
}

# check SENTENCE COMMAND...: requires that the command succeeds, and shows its output if it fails.
check() {
  local sentence=$1
  shift
  if ! "$@" >"$scratch/output" 2>&1; then
    cat "$scratch/output" >&2
    fail "$sentence"
  fi
  checked=$((checked + 1))
  printf '  ok  %s\n' "$sentence"
}

# Prints the only file that matches a pattern.
only() {
  local found
  mapfile -t found < <(compgen -G "$packages/$1")
  [[ ${#found[@]} == 1 && -f ${found[0]} ]] || fail "expected exactly one $1 in $packages"
  echo "${found[0]}"
}

# Runs a program of $bin without the builder's settings: it must not depend on the build folder, PATH or a display.
run() {
  local program=$1 platform=()
  shift
  [[ $program != tidemark-gui ]] || platform=(QT_QPA_PLATFORM=offscreen)
  env -i HOME="$scratch" PATH=/usr/bin:/bin LC_ALL=C.UTF-8 "${platform[@]}" XDG_RUNTIME_DIR="$scratch" \
    XDG_CACHE_HOME="$scratch/cache" XDG_CONFIG_HOME="$scratch/config" timeout 120 "$bin/$program" "$@"
}

commands_of_tidemark() { run tidemark --help | sed -n '/^Subcommands:/,/^$/ s/^  \([a-z]*\) .*/\1/p'; }
man_page_describes() { zcat "$root/usr/share/man/man1/tidemark.1.gz" | grep -x ".SS tidemark $1"; }
# shellcheck disable=SC1090
bash_completes() { (. "$1" && complete -p tidemark); }
says_version() { run "$1" --version | grep -F "$version"; }
says_usage() { run "$1" --help | grep -i 'usage'; }
is_png() { [[ $(head -c 8 "$1" | od -An -tx1 | tr -d ' \n') == 89504e470d0a1a0a ]]; }
field_holds() { [[ $(dpkg-deb --field "$1" "$2") == *"$3"* ]]; }
field_lacks() { [[ $(dpkg-deb --field "$1" "$2") != *"$3"* ]]; }
runs_away_from_build() { ! readelf -d "$1" | grep -E 'RPATH|RUNPATH' | grep -vF "[\$ORIGIN/"; }
names_no_build_path() { ! grep -aFq "$source_root" "$1"; }
only_root_owns() { [[ $(dpkg-deb --contents "$1" | awk '{ print $2 }' | sort -u) == root/root ]]; }

check_programs() {
  local example trace=$scratch/example.tide
  rm -f "$trace" "$scratch"/*.png
  check "tidemark --version says $version" says_version tidemark
  check "tidemark --help explains itself" says_usage tidemark
  check "tidemark-gui --version says $version, without a display" says_version tidemark-gui
  check "tidemark-gui --help explains itself" says_usage tidemark-gui
  example=$source_root/tests/data/snapshots/s0_graph_leak.pickle
  check "imports $(basename "$example")" run tidemark import "$example" -o "$trace"
  check "describes the trace" run tidemark info "$trace"
  check "tidemark finds tidemark-gui beside it and draws without a display" \
    run tidemark render "$trace" --view timeline -o "$scratch/timeline.png"
  check "the picture is a PNG" is_png "$scratch/timeline.png"
}

for tool in dpkg-deb readelf python3 desktop-file-validate update-desktop-database appstreamcli update-mime-database; do
  command -v "$tool" >/dev/null || [[ -x /usr/sbin/$tool ]] || fail "$tool is needed for this test and is not installed"
done
[[ -n $version ]] || fail "the version could not be read from CMakeLists.txt"

recorder_deb=$(only "tidemark-recorder_${version}_*.deb")
viewer_deb=$(only "tidemark-viewer_${version}_*.deb")

echo "The fields of the DEBs"
check "the recorder does not need Qt" field_lacks "$recorder_deb" Depends libqt6
check "the recorder's libraries were found" field_holds "$recorder_deb" Depends libsqlite3-0
check "the viewer needs the recorder of the same version" field_holds "$viewer_deb" Depends "tidemark-recorder (= $version)"
check "the viewer's libraries were found" field_holds "$viewer_deb" Depends libqt6widgets6
for deb in "$recorder_deb" "$viewer_deb"; do
  check "$(basename "$deb"): every file belongs to root" only_root_owns "$deb"
done

echo "The DEBs in an empty root"
root=$scratch/root
mkdir "$root"
for deb in "$recorder_deb" "$viewer_deb"; do
  check "$(basename "$deb") unpacks" dpkg-deb --extract "$deb" "$root"
done
for package in tidemark-recorder tidemark-viewer; do
  for document in copyright changelog.gz; do
    check "$package contains its $document" test -s "$root/usr/share/doc/$package/$document"
  done
done
check "tidemark-recorder contains the description of the trace format" \
  test -s "$root/usr/share/doc/tidemark-recorder/FORMAT.md"
for program in tidemark tidemark-gui; do
  check "$program: has its manual page" test -s "$root/usr/share/man/man1/$program.1.gz"
  check "$program: looks for no library in the build folder" runs_away_from_build "$root/usr/bin/$program"
  check "$program: names no path of the machine it was built on" names_no_build_path "$root/usr/bin/$program"
done
reader=$root/usr/lib/tidemark/libtidemark_reader.so
check "the command's library names no path of the machine it was built on" names_no_build_path "$reader"
check "bash completes the command" bash_completes "$root/usr/share/bash-completion/completions/tidemark"
for script in zsh/vendor-completions/_tidemark fish/vendor_completions.d/tidemark.fish; do
  check "tidemark-recorder contains $script" grep -q tidemark "$root/usr/share/$script"
done
for example in "$root"/usr/share/tidemark/examples/{s01_list_of_cpu_outputs,gpt2}.tide; do
  check "tidemark-viewer contains the example $(basename "$example")" test -s "$example"
done
bin=$root/usr/bin
for command in $(commands_of_tidemark); do
  check "the manual page of tidemark describes $command" man_page_describes "$command"
done
check_programs

echo "The desktop files"
share=$root/usr/share
check "the desktop entry is valid" desktop-file-validate "$share/applications/$viewer_id.desktop"
check "the AppStream data are valid" appstreamcli validate --no-net "$share/metainfo/$viewer_id.metainfo.xml"
for icon in scalable/apps/$viewer_id.svg 48x48/apps/$viewer_id.png 128x128/apps/$viewer_id.png 256x256/apps/$viewer_id.png; do
  check "the icon $icon is there" test -s "$share/icons/hicolor/$icon"
done
check "the desktop's cache of file types can be made" update-desktop-database "$share/applications"
check "a trace opens with Tidemark" \
  grep -q "^application/vnd.tidemark.trace=.*$viewer_id.desktop" "$share/applications/mimeinfo.cache"
cp /usr/share/mime/packages/freedesktop.org.xml "$share/mime/packages/"
check "the MIME types are compatible with the system's" \
  env XDG_DATA_DIRS="$share" PATH="$PATH:/usr/sbin:/usr/bin" update-mime-database "$share/mime"
check "the content of a .tide file distinguishes it from other SQLite files" \
  python3 "$here/check_mime.py" "$share/mime" "$scratch/example.tide"

if command -v lintian >/dev/null; then
  check "lintian finds no error" lintian --allow-root --fail-on error "$recorder_deb" "$viewer_deb"
fi

printf 'package test: all %d checks passed\n' "$checked"
