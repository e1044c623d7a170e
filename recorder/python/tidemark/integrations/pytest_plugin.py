# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""pytest --tidemark: limits of the GPU memory of tests.

    @pytest.mark.tidemark(max_peak="2GiB", no_leak=True)
    def test_training(): ...

Each marked test is recorded. A test that exceeds a limit fails with the allocation site and the retention path. Without
--tidemark, the marks do nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tidemark import _api, _check, _recording

_NOT_CHECKED = "tidemark: not checked"  # name of the report's property
_SIZES = {
    "max_peak": "--max-peak",
    "max_reserved": "--max-reserved",
    "max_growth_per_step": "--max-growth-per-step",
}
_MARKER = (
    "tidemark(max_peak, max_reserved, max_growth_per_step, no_leak, no_finding): limits of the test's GPU memory,"
    ' which `pytest --tidemark` checks. Sizes are such as "2GiB" or a number of bytes; no_leak is True or False;'
    " no_finding lists severities and kinds of findings, as in `tidemark check --no-finding`."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tidemark")
    group.addoption("--tidemark", action="store_true", help="record each test with the mark tidemark; check its limits")
    group.addoption(
        "--tidemark-require",
        action="store_true",
        help="as --tidemark; fail a marked test whose memory cannot be checked, such as without a GPU",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    is_required = config.getoption("--tidemark-require")
    if is_required or config.getoption("--tidemark"):
        config.pluginmanager.register(MemoryLimits(is_required), "tidemark-limits")


@contextlib.contextmanager
def recording(trace: str) -> Iterator[None]:
    """Records into a new trace until its exit. Raises OSError if that is not possible."""
    if _api.current() is not None:
        raise OSError("another recording runs")
    with _api.start(trace, _recording.PARTS, "full", force=True) as started:
        started.leave_report()  # the end of the session reports it, and the row of dots stays whole
        yield


def limits_of(mark: pytest.Mark) -> list[str]:
    """Returns the limits as options of `tidemark check`. Raises pytest.UsageError."""
    given = dict(mark.kwargs)
    limits = [word for name, option in _SIZES.items() if name in given for word in (option, str(given.pop(name)))]
    findings = given.pop("no_finding", [])
    listed = findings.split(",") if isinstance(findings, str) else list(findings)
    if given.pop("no_leak", False):
        listed.append("leak")
    if mark.args or given:
        unknown = ", ".join([*map(repr, mark.args), *given])
        raise pytest.UsageError(f"the mark tidemark does not know {unknown}; it is: {_MARKER}")
    if not limits and not listed:
        raise pytest.UsageError(f"the mark tidemark states no limit; it is: {_MARKER}")
    return [*limits, "--no-finding", ",".join(listed)] if listed else limits


class MemoryLimits:
    """Checks the marked tests of a session."""

    def __init__(self, is_required: bool) -> None:
        self._is_required = is_required

    @pytest.hookimpl(trylast=True)  # after tests that -k and -m leave out are gone
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Refuses wrong marks before any test runs."""
        for item in items:
            if mark := item.get_closest_marker("tidemark"):
                try:
                    limits_of(mark)
                except pytest.UsageError as wrong:
                    raise pytest.UsageError(f"{item.nodeid}: {wrong}") from None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        mark = item.get_closest_marker("tidemark")
        if mark is None:
            return (yield)
        trace = _new_trace(item)
        reason = ""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(recording(trace))
            except OSError as failure:
                reason = str(failure)
            result = yield  # if the test fails, that is its result
        self._check(item, trace, limits_of(mark), reason or _why_nothing_recorded())
        return result

    def _check(self, item: pytest.Item, trace: str, limits: list[str], reason: str) -> None:
        failed = ""
        try:
            answer = _check.check(trace, limits)  # finds wrong limits also if there is no trace
            if not reason and not answer["holds"]:
                failed = _failure_text(answer, trace)
        except OSError as failure:
            reason = reason or str(failure)
        except ValueError as failure:
            failed, reason = f"tidemark: {failure}", ""
        if reason and self._is_required:
            failed = f"tidemark: the GPU memory of this test was not checked: {reason}"
        elif reason:
            item.user_properties.append((_NOT_CHECKED, reason))
        if failed:
            pytest.fail(failed, pytrace=False)

    def pytest_report_header(self) -> str:
        return "tidemark: the GPU memory of marked tests is recorded and checked"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Lists the tests whose memory was not checked: they passed, but their limits may be exceeded."""
        reports = [report for reports in terminalreporter.stats.values() for report in reports]
        unchecked = [
            (report.nodeid, reason)
            for report in reports
            if getattr(report, "when", "") == "call"
            for name, reason in report.user_properties
            if name == _NOT_CHECKED
        ]
        if unchecked:
            terminalreporter.section("GPU memory was not checked", yellow=True)
            for test, reason in unchecked:
                terminalreporter.line(f"{test}: {reason}")


def _why_nothing_recorded() -> str:
    torch = sys.modules.get("torch")
    return "the test used no GPU" if torch is not None and not torch.cuda.is_initialized() else ""


def _new_trace(item: pytest.Item) -> str:
    factory = item.session.config._tmp_path_factory  # type: ignore[attr-defined]  # as of the fixture tmp_path
    name = re.sub(r"\W+", "_", item.name)[:60]
    return os.path.join(factory.mktemp(f"tidemark-{name}"), f"{name}.tide")


def _failure_text(answer: Any, trace: str) -> str:
    failed = [limit for device in answer["devices"] for limit in device["limits"] if limit["outcome"] != "holds"]
    lines = [f"tidemark: {'; '.join(limit['reason'] for limit in failed)}"]  # pytest's summary has the first line
    paths: list[list[str]] = []
    for limit in failed:
        lines += ["", f"{limit['outcome'].upper()}: {limit['reason']}", *(f"  {text}" for text in limit["details"])]
        if limit["path"] and limit["path"] not in paths:
            paths.append(limit["path"])
            lines += ["  retention path", *(f"    {step}" for step in limit["path"])]
    return "\n".join([*lines, "", f"More: tidemark explain {shlex.quote(trace)}"])
