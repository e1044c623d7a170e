# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records what a PyTorch program does with GPU memory into a Tidemark trace.

    import tidemark
    tidemark.record("run.tide")          # records until the program ends, or
    with tidemark.record("run.tide"):    # records until the block ends
        train()

    tidemark.step()                      # ends a training step; without it, an optimizer step ends one
    tidemark.mark("epoch 3", value=loss) # names this point in time
    tidemark.referrers()                 # records what retains each tensor now; also done at the end
    tidemark.phase("eval")               # names the phase from here on, or of a `with` block
    tidemark.stop()                      # ends the recording; the trace is complete when it returns

`tidemark record -- python train.py` records a program without a change in it. The package never changes the results of
the program. If something cannot be recorded, it prints one sentence on stderr, and the program continues.
"""

from tidemark._api import mark, phase, record, referrers, step, stop

__all__ = ["mark", "phase", "record", "referrers", "step", "stop"]
