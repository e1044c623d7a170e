# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Failures of a part of the recorder. None may end or change the program."""

from __future__ import annotations

import functools
from typing import Any, Callable, Protocol

from tidemark._sentence import Sentence

ReportGap = Callable[[str, Sentence, object], None]


class Failures:
    """Reports each kind of failure once, as a data gap. reason: a word of DataGapReason. in_words: returns the sentence
    for the user, of the details of a failure."""

    def __init__(self, report_gap: ReportGap, reason: str, in_words: Callable[[str], Sentence]) -> None:
        self._report_gap = report_gap
        self._reason = reason
        self._in_words = in_words
        self._known: set[str] = set()

    def report(self, what: str, failure: Exception) -> None:
        """Reports a failure of the method `what`."""
        if what not in self._known:
            self._known.add(what)
            details = f"{what}: {type(failure).__name__}: {failure}"
            self._report_gap(self._reason, self._in_words(details), details)


class _Part(Protocol):
    failures: Failures


def reports_failures(method: Callable[..., None]) -> Callable[..., None]:
    """Decorates a method of an object with `failures`: reports what it raises."""

    @functools.wraps(method)
    def call(self: _Part, *arguments: Any) -> None:
        try:
            method(self, *arguments)
        except Exception as failure:  # no failure of the recorder may end the program
            self.failures.report(method.__name__, failure)

    return call
