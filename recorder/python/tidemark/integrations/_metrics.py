# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Peak, growth and findings of a trace as metrics."""

from __future__ import annotations

import os
import sys
from typing import Any

from tidemark import _api, _check

_NO_LIMIT = str(2**62)
_QUANTITIES = {
    "max-peak": "peak_allocated_bytes",
    "max-reserved": "peak_reserved_bytes",
    "max-growth-per-step": "growth_per_step_bytes",
}
_SEVERITIES = ("leak", "failure", "waste")


def metrics(trace: str | os.PathLike[str] | None = None) -> dict[str, float]:
    """Returns the metrics of a trace: `tidemark/peak_allocated_bytes`, `tidemark/peak_reserved_bytes`,
    `tidemark/growth_per_step_bytes` (missing while it is unknown) and `tidemark/findings`: the number of leaks,
    failures and waste. With several devices, `tidemark/device1/...`.

    trace: a trace, finished or being written; None: that of the running recording, up to now. Takes about a second for
    10 million events. Raises OSError with the reason if the trace cannot be read.
    """
    limits = [word for name in _QUANTITIES for word in (f"--{name}", _NO_LIMIT)]
    devices = _check.check(_path_of(trace), [*limits, "--no-finding", ",".join(_SEVERITIES)])["devices"]
    values: dict[str, float] = {}
    for device in devices:
        prefix = "tidemark/" if len(devices) == 1 else f"tidemark/device{device['device']}/"
        for limit in device["limits"]:
            if limit["limit"] not in _QUANTITIES:
                values[f"{prefix}findings"] = len(limit["findings"])
            elif limit["value_bytes"] is not None:
                values[prefix + _QUANTITIES[limit["limit"]]] = limit["value_bytes"]
    return values


def _path_of(trace: str | os.PathLike[str] | None) -> str:
    if trace is not None:
        return os.fspath(trace)
    recording = _api.current()
    if recording is None or not recording.output:
        raise OSError("no recording runs; name a trace")
    return recording.output


def log_metrics(
    trace: str | os.PathLike[str] | None = None, to: Any = None, step: int | None = None
) -> dict[str, float]:
    """Logs metrics() to experiment trackers, and returns them.

    trace: as of metrics().
    to: a SummaryWriter of TensorBoard, a run of W&B, the module mlflow, or a logger of Lightning. None: the runs that
    are active in W&B and in MLflow.
    step: the step to which the values belong; None: the tracker decides.
    Raises OSError if the trace cannot be read, TypeError if `to` is nothing of this kind.

        log_metrics("run.tide", to=SummaryWriter())
    """
    values = metrics(trace)
    for target in _active_runs() if to is None else [to]:
        _log(values, target, step)
    return values


def _active_runs() -> list[Any]:
    """Returns the runs that the program has begun. A library that it did not import has none."""
    wandb, mlflow = sys.modules.get("wandb"), sys.modules.get("mlflow")
    runs = [wandb.run] if wandb is not None and getattr(wandb, "run", None) is not None else []
    return [*runs, mlflow] if mlflow is not None and mlflow.active_run() is not None else runs


def _log(values: dict[str, float], target: Any, step: int | None) -> None:
    if hasattr(target, "add_scalar"):  # TensorBoard
        for name, value in values.items():
            target.add_scalar(name, value, step)
    elif hasattr(target, "log_metrics"):  # MLflow, loggers of Lightning
        target.log_metrics(values, step=step)
    elif hasattr(target, "log"):  # W&B
        target.log(values, step=step)
    else:
        raise TypeError(f"tidemark.integrations.log_metrics: {type(target).__name__} takes no metrics")
