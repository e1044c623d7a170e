# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks that the window's translations are complete: translations_test.py LUPDATE REPOSITORY."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree


def incomplete_messages(path):
    """Returns the sources of messages that are unfinished or no longer used."""
    messages = ElementTree.parse(path).getroot().iter("message")
    incomplete = []
    for message in messages:
        translation = message.find("translation")
        forms = [form.text for form in translation.iter("numerusform")] or [translation.text]
        if translation.get("type") or not all(forms):
            incomplete.append(message.findtext("source"))
    return incomplete


def main():
    lupdate, repository = sys.argv[1], pathlib.Path(sys.argv[2])
    sources = sorted(str(path) for pattern in ("*/*.h", "*/*.cpp") for path in (repository / "gui").glob(pattern))
    failed = False
    for name, options in (("tidemark_zh_CN.ts", []), ("tidemark_en.ts", ["-pluralonly"])):
        with tempfile.TemporaryDirectory() as folder:
            updated = pathlib.Path(folder) / name
            shutil.copy(repository / "resources" / "translations" / name, updated)
            # Keeps vanished messages, which incomplete_messages() reports.
            subprocess.run(
                [
                    lupdate,
                    "-silent",
                    "-locations",
                    "none",
                    "-I",
                    str(repository),
                    *options,
                    *sources,
                    "-ts",
                    str(updated),
                ],
                check=True,
                capture_output=True,
            )
            for source in incomplete_messages(updated):
                print(f"{name}: {source!r} is not translated, or no longer used")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
