"""Records what a PyTorch program does with GPU memory into a Tidemark trace.

    import tidemark
    tidemark.record("run.tide")          # from here to the end of the program, or
    with tidemark.record("run.tide"):    # for a while
        train()

    tidemark.step()                      # a training step ended (seen at the optimizer unless told)
    tidemark.mark("epoch 3", value=loss) # a name for this moment
    tidemark.holders()                   # who holds tensors now (looked for at the end, too)
    tidemark.phase("eval")               # what the program does from here on; also as `with`
    tidemark.stop()                      # ends the recording; the trace is complete when this returns

`tidemark record -- python train.py` does the first of these without a change in the program. Nothing here changes a
result; where something cannot be recorded, one sentence on stderr says what and why, and the program goes on.
"""

from tidemark._recording import referrers, mark, phase, record, step, stop

__all__ = ["referrers", "mark", "phase", "record", "step", "stop"]
