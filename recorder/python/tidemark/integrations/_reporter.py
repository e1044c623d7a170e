# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""What the callbacks of all frameworks report."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import Any

import tidemark
from tidemark import _api


class Reporter:
    """Reports to the recording that runs. Does nothing without one."""

    def __init__(self, trace: str | os.PathLike[str] | None, options: Mapping[str, Any]) -> None:
        """trace: the trace to record while the framework trains; None: another recording runs. options: as of
        tidemark.record()."""
        self._trace = trace
        self._options = options
        self._records = False
        self._phase: contextlib.AbstractContextManager[None] | None = None

    def training_begins(self) -> None:
        """Handles the begin of a training."""
        if self._trace is not None and _api.current() is None:
            tidemark.record(self._trace, **self._options)
            self._records = _api.current() is not None

    def first_step_begins(self, steps_before: int) -> None:
        """Handles that the training starts with its steps. steps_before: those of an earlier run that it continues."""
        if steps_before > 0:
            tidemark.mark(f"resumed after step {steps_before}")

    def training_ends(self) -> None:
        """Handles the end of a training. After an exception the recording ends with the program instead, because a heap
        scan at its end shows what the exception retains."""
        self.phase_ends()
        if self._records:
            self._records = False
            tidemark.stop()

    def epoch_begins(self, number: int) -> None:
        """Marks the begin of an epoch, from 0."""
        tidemark.mark(f"epoch {number}")

    def step_ended(self) -> None:
        """Handles the end of a training step: of an optimizer step, not of each batch that accumulates gradients."""
        tidemark.step()

    def checkpoint(self) -> None:
        """Marks that a checkpoint is saved."""
        tidemark.mark("checkpoint")

    def losses(self, values: Mapping[str, Any]) -> None:
        """Marks the values that have "loss" in their name. Reading one that is on the GPU waits for the GPU."""
        for name, value in values.items():
            if "loss" in name and value is not None:
                with contextlib.suppress(TypeError, ValueError, RuntimeError):  # not a number
                    tidemark.mark(name, value=value)

    def phase_begins(self, name: str) -> None:
        """Names the phase, unless one has begun already."""
        if self._phase is None:
            self._phase = tidemark.phase(name)
            self._phase.__enter__()

    def phase_ends(self) -> None:
        """Restores the phase before, if one has begun."""
        phase, self._phase = self._phase, None
        if phase is not None:
            phase.__exit__(None, None, None)
