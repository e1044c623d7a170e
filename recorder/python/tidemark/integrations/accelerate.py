# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""A tracker for Hugging Face accelerate.

    accelerator = Accelerator(log_with=TidemarkTracker())
    accelerator.init_trackers("training")
    watch(accelerator)

Steps need no report: each step of the optimizer ends one, also with accumulated gradients. An evaluation loop is yours:
`with tidemark.phase("eval"):`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accelerate.tracking import GeneralTracker

import tidemark
from tidemark.integrations._reporter import Reporter


class TidemarkTracker(GeneralTracker):
    """Marks the losses of accelerator.log()."""

    name = "tidemark"
    requires_logging_directory = False
    main_process_only = False  # each process has its own trace

    def __init__(self) -> None:
        super().__init__()
        self._report = Reporter(None, {})

    @property
    def tracker(self) -> Any:
        """The object that Accelerator.get_tracker() returns with unwrap=True."""
        return tidemark

    def store_init_configuration(self, values: Mapping[str, Any]) -> None:
        """Does nothing: traces have no hyperparameters."""

    def log(self, values: Mapping[str, Any], step: int | None = None, **_: Any) -> None:
        """Marks the values that have "loss" in their name."""
        self._report.losses(values)


def watch(accelerator: Any) -> None:
    """Marks each checkpoint that accelerator.save_state() saves, and each that load_state() loads."""
    accelerator.register_save_state_pre_hook(lambda models, weights, folder: tidemark.mark("checkpoint"))
    accelerator.register_load_state_pre_hook(lambda models, folder: tidemark.mark("checkpoint loaded"))
