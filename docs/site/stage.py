# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Copies the pages of the documentation, and the files that they link, for MkDocs.

stage.py FOLDER      replaced by the pages; paths as in the repository, README.md as index.md
"""

import os
import pathlib
import re
import shutil
import sys

_ROOT = pathlib.Path(__file__).parents[2]
_FIRST = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *(f"docs/{page.name}" for page in (_ROOT / "docs").glob("*.md")),
)
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")


def _linked(page: pathlib.Path) -> set[pathlib.Path]:
    """Returns the files that a page links, outside of code."""
    text = re.sub(r"^```.*?^```|^    .*?$|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    targets = (target for target, _ in _LINK.findall(text) if "://" not in target)
    return {pathlib.Path(os.path.normpath(page.parent / target)) for target in targets}


def _all_files() -> set[pathlib.Path]:
    found = {_ROOT / "docs" / "site" / "site.css"}
    new = {_ROOT / page for page in _FIRST}
    while new:
        found |= new
        new = {link for page in new if page.suffix == ".md" for link in _linked(page)} - found
    return found


def _text_for_site(page: pathlib.Path) -> str:
    """Returns a page whose links lead to the places of this site. Folders have no page: their names stay."""

    def replaced(match: re.Match[str]) -> str:
        target = page.parent / match[1]
        if match[1].split("/")[-1] == "README.md" and os.path.normpath(target.parent) == str(_ROOT):
            return match[0].replace("README.md", "index.md")
        return match[0]

    text = page.read_text()
    text = re.sub(r"\[([^\]]+)\]\(([^)#\s]+)\)", lambda link: link[1] if _is_folder(page, link[2]) else link[0], text)
    return _LINK.sub(replaced, text)


def _is_folder(page: pathlib.Path, target: str) -> bool:
    return "://" not in target and (page.parent / target).is_dir()


def main(folder: pathlib.Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for file in sorted(_all_files()):
        name = file.relative_to(_ROOT)
        if not file.is_file():
            continue  # MkDocs reports the link
        place = folder / ("index.md" if str(name) == "README.md" else name)
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            place.write_text(_text_for_site(file))
        else:
            shutil.copy(file, place)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
