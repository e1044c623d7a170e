# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Prints messages to the user."""

import sys
import unicodedata

from tidemark._sentence import in_language_of_user

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """Returns the text with escapes in place of hidden characters, as visible_text() of storage/base/utf8.h does:
    exceptions and file names can contain characters that control the terminal or change the direction of text."""
    return "".join(_escaped(c) if unicodedata.category(c) in _HIDDEN else c for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return _SHORT.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def notify(sentence: object) -> None:
    """Prints a sentence on stderr in the language of the user, prefixed with "tidemark: ". sentence: a Sentence, an
    exception with one, or a text that the command has written in that language."""
    print(f"tidemark: {visible(str(in_language_of_user(sentence)))}", file=sys.stderr, flush=True)
