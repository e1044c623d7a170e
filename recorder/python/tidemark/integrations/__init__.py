# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Tidemark in the places where people work.

    from tidemark.integrations.transformers import TidemarkCallback   # Trainer(callbacks=[TidemarkCallback()])
    from tidemark.integrations.lightning import TidemarkCallback      # Trainer(callbacks=[TidemarkCallback()])
    from tidemark.integrations.accelerate import TidemarkTracker      # Accelerator(log_with=TidemarkTracker())
    from tidemark.integrations import log_metrics                     # TensorBoard, W&B, MLflow

The callbacks report steps, phases, checkpoints and losses to the recording that runs; without one, they do nothing.
Each module imports its own library only.
"""

from tidemark.integrations._metrics import log_metrics, metrics

__all__ = ["log_metrics", "metrics"]
