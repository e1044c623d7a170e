# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records what a PyTorch program does with GPU memory into a Tidemark trace.

    import tidemark
    tidemark.record("run.tide")          # until the end of the program, or
    with tidemark.record("run.tide"):    # until the end of the block
        train()

    tidemark.step()                      # marks the end of a training step (without it, optimizer steps count)
    tidemark.mark("epoch 3", value=loss) # names this point in time
    tidemark.referrers()                 # records now what retains each tensor (also done at the end)
    tidemark.phase("eval")               # names what the program does from here on; also works as `with`
    tidemark.stop()                      # ends the recording; the trace is complete when it returns

`tidemark record -- python train.py` starts the recording without a change in the program. The package never changes a
result. When something cannot be recorded, it prints one sentence on stderr, and the program continues.
"""

from tidemark._api import mark, phase, record, referrers, step, stop

__all__ = ["mark", "phase", "record", "referrers", "step", "stop"]
