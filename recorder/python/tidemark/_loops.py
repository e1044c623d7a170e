# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Finds the iterators of `for` loops that run. They have no variable: a frame holds them on its stack of values."""

from __future__ import annotations

import bisect
import dis
import functools
import typing
from types import CodeType, FrameType
from typing import Any

from tidemark import _heap

_LONGEST_CODE = 20_000  # bytes; longer functions take too long to read
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_ENDS = frozenset(
    ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE")
    + ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")
)  # the next instruction does not follow them
_EXCHANGED = {"ROT_TWO": 2, "ROT_THREE": 3, "ROT_FOUR": 4}  # values on top that change places; SWAP, ROT_N: argument


class _Stack(typing.NamedTuple):
    """The stack of values before an instruction: its depth, and the positions of the iterators of loops."""

    depth: int
    iterators: tuple[int, ...]


def iterators(heap: _heap.Heap, frame: FrameType) -> list[Any]:
    """Returns the iterators of the loops that the frame is in, outermost first."""
    offsets, positions = _positions(frame.f_code)
    at = bisect.bisect_right(offsets, frame.f_lasti) - 1  # of a call, Python may store the end of its instruction
    return heap.stack_items(frame, positions[at]) if at >= 0 else []


@functools.lru_cache(maxsize=1000)
def _positions(code: CodeType) -> tuple[list[int], list[tuple[int, ...]]]:
    """Returns the offsets of the instructions, and the positions of the iterators while each of them runs."""
    if len(code.co_code) > _LONGEST_CODE:
        return [], []
    instructions = list(dis.get_instructions(code))
    stacks = _stacks(instructions) if any(each.opname == "FOR_ITER" for each in instructions) else {}
    nothing = _Stack(0, ())
    return [each.offset for each in instructions], [stacks.get(each.offset, nothing).iterators for each in instructions]


def _stacks(instructions: list[dis.Instruction]) -> dict[int, _Stack]:
    """Returns the stack at each instruction that is reached without an exception, by its offset; none if two ways to an
    instruction do not agree about the depth."""
    following = dict(zip((each.offset for each in instructions), instructions[1:]))
    by_offset = {each.offset: each for each in instructions}
    first = instructions[0]
    stacks: dict[int, _Stack] = {}
    # GEN_START pops what the first send() has passed.
    to_visit = [(first.offset, _Stack(1 if first.opname == "GEN_START" else 0, ()))]
    while to_visit:
        offset, before = to_visit.pop()
        each = by_offset[offset]
        if each.opname == "FOR_ITER":
            before = _Stack(before.depth, tuple(sorted({*before.iterators, before.depth - 1})))
        if offset in stacks:
            known = stacks[offset]
            if known.depth != before.depth:
                return {}
            before = _Stack(known.depth, tuple(at for at in known.iterators if at in before.iterators))
            if before == known:
                continue
        stacks[offset] = before
        if each.opcode in _JUMPS:
            to_visit.append((each.argval, _after(each, before, True)))
        if each.opname not in _ENDS and offset in following:
            to_visit.append((following[offset].offset, _after(each, before, False)))
    return stacks


def _after(instruction: dis.Instruction, before: _Stack, jumps: bool) -> _Stack:
    depth = before.depth + _effect(instruction, jumps)
    exchanged = _EXCHANGED.get(instruction.opname, 0)
    if instruction.opname in ("SWAP", "ROT_N"):
        exchanged = instruction.arg or 0
    # A loop ends when its iterator leaves its place: the loop is exhausted, or a `break` or `return` drops it.
    exhausted = before.depth - 1 if instruction.opname == "FOR_ITER" and jumps else -1
    rest = min(depth, before.depth - exchanged)
    return _Stack(depth, tuple(at for at in before.iterators if at < rest and at != exhausted))


def _effect(instruction: dis.Instruction, jumps: bool) -> int:
    """Returns by how much an instruction changes the number of values on the stack."""
    if instruction.opname == "RETURN_GENERATOR":
        return 1  # the generator's own frame begins after it, with a value; some versions of dis say 0
    return dis.stack_effect(instruction.opcode, instruction.arg, jump=jumps)
