# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Lists the versions that a site has, newest first, in versions.json, and lets its first page lead to the newest.

list_versions.py FOLDER      with one folder per version, such as 0.1.0
"""

import json
import pathlib
import re
import sys


def main(site: pathlib.Path) -> None:
    folders = [folder.name for folder in site.iterdir() if re.fullmatch(r"\d+(\.\d+)+", folder.name)]
    folders.sort(key=lambda name: tuple(map(int, name.split("."))), reverse=True)
    versions = [{"version": name, "title": name, "aliases": ["latest"] * (name == folders[0])} for name in folders]
    (site / "versions.json").write_text(json.dumps(versions, indent=1) + "\n")
    (site / "index.html").write_text(
        f'<!doctype html><title>Tidemark</title><meta http-equiv="refresh" content="0; url={folders[0]}/index.html">\n'
    )


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
