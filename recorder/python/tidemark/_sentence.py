# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Sentences for the user, in English and in the language of the locale.

Exceptions and traces contain the English text, since others read them, too. What is printed is translated.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gettext import NullTranslations

_CATALOG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "zh_CN.mo")


class Sentence(str):
    """A text such as Sentence("{path} is missing", path=path), in English.

    The first argument must be a literal: the build extracts it with xgettext, and resources/translations/zh_CN.po
    translates it with the same placeholders. A value can be a sentence, or an exception with one.
    """

    _english: str
    _values: dict[str, Any]

    def __new__(cls, english: str, /, **values: Any) -> Sentence:
        self = super().__new__(cls, english.format(**values))
        self._english, self._values = english, values
        return self

    def translated(self) -> str:
        """Returns the sentence in the language of the environment's locale; in English if there is no translation."""
        catalog = _catalog()
        if catalog is None:
            return str(self)
        values = {name: in_language_of_user(value) for name, value in self._values.items()}
        return catalog.gettext(self._english).format(**values)

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)  # another process has no need of the parts


def in_language_of_user(text: Any) -> Any:
    """Returns a sentence, or that of an exception, in the language of the user; anything else unchanged."""
    sentence = text.args[0] if isinstance(text, BaseException) and text.args else text
    return sentence.translated() if isinstance(sentence, Sentence) else text


def _is_chinese() -> bool:
    """As language_of_locale() of storage/text/words.h."""
    named = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return next(filter(None, named), "").replace("-", "_").split(".")[0].split("_")[0] == "zh"


@functools.cache
def _catalog_of(path: str) -> NullTranslations | None:
    import gettext  # only where a sentence is translated: it is not needed in most programs

    try:
        with open(path, "rb") as file:
            return gettext.GNUTranslations(file)
    except OSError:
        return None


def _catalog() -> NullTranslations | None:
    return _catalog_of(_CATALOG) if _is_chinese() else None
