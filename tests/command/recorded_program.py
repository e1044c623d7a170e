# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""A program for the tests of steering: it behaves like PyTorch's allocator, without PyTorch and without a GPU.

    recorded_program.py FOLDER [TRACE]

With TRACE it records itself. Otherwise it waits until a command starts a recording. Writes its pid to FOLDER/pid, and
ends when FOLDER/stop appears. Each step allocates 1 MiB for 10 ms in forward() and retains 512 KiB in keep().
"""

import os
import pathlib
import sys
import time

SEGMENT, SEGMENT_BYTES = 0x7F0000000000, 2 << 30
ALLOC, FREE_REQUESTED, FREE_COMPLETED, SEGMENT_ALLOC = 0, 1, 2, 3


class Allocator:
    def __init__(self, core, abi):
        self._core, self._abi = core, abi
        self._sequence = 0
        self.next = SEGMENT
        self._stacks = {}
        self._push_state(abi.STATE_BEGIN)
        self._push_state(abi.STATE_END)
        self._event(SEGMENT_ALLOC, SEGMENT, SEGMENT_BYTES)

    def _push_state(self, part):
        self._core.push((self._abi.Record(kind=self._abi.STATE, detail=part), b""))

    def _event(self, action, address, size, stack=0):
        record = self._abi.Record(kind=self._abi.EVENT, detail=action)
        event = record.event
        event.sequence, event.address, event.size, event.stack = self._sequence, address, size, stack
        self._sequence += 1
        self._core.push((record, b""))

    def _stack(self, function, line):
        if self._core.details_paused():
            return 0
        if function not in self._stacks:
            record = self._abi.Record(kind=self._abi.STACK)
            record.define.id = len(self._stacks) + 1
            frame = self._abi.Frame(
                function=self._core.text(function), file=self._core.text("/home/anna/train.py"), line=line
            )
            self._core.push((record, bytes(frame)))
            self._stacks[function] = record.define.id
        return self._stacks[function]

    def allocate(self, size, function, line):
        address = self.next
        self.next += (size + 511) // 512 * 512
        self._event(ALLOC, address, size, self._stack(function, line))
        return address

    def free(self, address, size):
        self._event(FREE_REQUESTED, address, size)
        self._event(FREE_COMPLETED, address, size)


def recording():
    """Returns the running recording of this process, or None."""
    current = getattr(sys.modules.get("tidemark._api"), "current", None)  # another thread may be importing it
    return None if current is None else current()


def train(folder):
    while recording() is None:
        if (folder / "stop").exists():
            return
        time.sleep(0.01)
    import tidemark._abi as abi

    from tidemark import _records

    core = recording().core
    allocator = Allocator(core, abi)
    step = 0
    while not (folder / "stop").exists() and recording() is not None:
        temporary = allocator.allocate(1 << 20, "forward", 12)
        allocator.allocate(1 << 19, "keep", 31)
        time.sleep(0.01)
        allocator.free(temporary, 1 << 20)
        core.push(_records.step(_records.STEP_REPORTED, step))
        step += 1


def main():
    folder = pathlib.Path(sys.argv[1])
    if len(sys.argv) > 2:
        import tidemark

        tidemark.record(sys.argv[2], parts=["stacks"])
    (folder / "pid.new").write_text(str(os.getpid()))
    os.rename(folder / "pid.new", folder / "pid")
    train(folder)


if __name__ == "__main__":
    main()
