# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""A callback for the Trainer of Hugging Face transformers."""

from __future__ import annotations

import os
from typing import Any

from transformers import TrainerCallback

from tidemark.integrations._reporter import Reporter


class TidemarkCallback(TrainerCallback):
    """Reports training steps, epochs, evaluations, checkpoints and losses.

    trace: the trace to record while the Trainer trains, with the options of tidemark.record(). None: reports to the
    recording that runs, such as that of `tidemark record`.

        trainer = Trainer(model, args, callbacks=[TidemarkCallback()])
    """

    def __init__(self, trace: str | os.PathLike[str] | None = None, **options: Any) -> None:
        self._report = Reporter(trace, options)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._report.training_begins()
        self._report.first_step_begins(state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._report.training_ends()

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._report.phase_ends()  # an evaluation that failed did not end
        self._report.epoch_begins(int(state.epoch or 0))

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._report.phase_ends()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._report.step_ended()

    def on_prediction_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        # Nothing reports the begin of an evaluation. In its first batch, the phase is detected: it is "eval" as well.
        self._report.phase_begins("eval")

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._report.phase_ends()

    def on_predict(self, args: Any, state: Any, control: Any, metrics: Any, **_: Any) -> None:
        self._report.phase_ends()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._report.checkpoint()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        self._report.losses(logs or {})
