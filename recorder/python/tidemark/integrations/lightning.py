# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""A callback for the Trainer of Lightning, also under its name pytorch_lightning."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from tidemark.integrations._reporter import Reporter

# Both packages may be installed: the program has imported the one that it uses.
if TYPE_CHECKING or ("pytorch_lightning" not in sys.modules and "lightning" in sys.modules):
    from lightning.pytorch.callbacks import Callback
else:
    try:
        from pytorch_lightning.callbacks import Callback
    except ImportError:
        from lightning.pytorch.callbacks import Callback


class TidemarkCallback(Callback):
    """Reports training steps, epochs, validations, tests, predictions, checkpoints and losses.

    trace: the trace to record during fit(), with the options of tidemark.record(). None: reports to the recording that
    runs, such as that of `tidemark record`.

        trainer = Trainer(callbacks=[TidemarkCallback()])
    """

    def __init__(self, trace: str | os.PathLike[str] | None = None, **options: Any) -> None:
        super().__init__()
        self._report = Reporter(trace, options)
        self._steps = 0  # of optimizers, as of the last report

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        self._report.training_begins()

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._steps = trainer.global_step
        self._report.first_step_begins(trainer.global_step)

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        self._report.training_ends()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._report.phase_ends()

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self._report.epoch_begins(trainer.current_epoch)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if trainer.global_step == self._steps:
            return  # the batch only accumulated gradients
        self._steps = trainer.global_step
        self._report.step_ended()
        if trainer.log_every_n_steps and self._steps % trainer.log_every_n_steps == 0:
            self._report.losses(outputs if isinstance(outputs, dict) else {"loss": outputs})

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        self._report.phase_begins("eval")

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        self._report.phase_ends()
        if not trainer.sanity_checking:
            self._report.losses({name: value for name, value in trainer.callback_metrics.items() if "val" in name})

    def on_test_start(self, trainer: Any, pl_module: Any) -> None:
        self._report.phase_begins("eval")

    def on_test_end(self, trainer: Any, pl_module: Any) -> None:
        self._report.phase_ends()

    def on_predict_start(self, trainer: Any, pl_module: Any) -> None:
        self._report.phase_begins("eval")

    def on_predict_end(self, trainer: Any, pl_module: Any) -> None:
        self._report.phase_ends()

    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: dict[str, Any]) -> None:
        self._report.checkpoint()
