# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Builds the messages that the Python side sends: (record, payload). recorder/core/records.h defines them."""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable, Sequence

import tidemark._abi as _abi

KNOWN_PHASES = {
    "forward": _abi.PHASE_FORWARD,
    "backward": _abi.PHASE_BACKWARD,
    "optimizer": _abi.PHASE_OPTIMIZER,
    "eval": _abi.PHASE_EVAL,
}
GAP_NOT_RECORDED = 10
STEP_SEEN, STEP_REPORTED = 0, 1  # reported by the optimizer hook, by the user

Message = tuple[_abi.Record, bytes]


def _record(kind: int, detail: int = 0, ticks: int = 0) -> _abi.Record:
    """Returns a record. ticks: 0 means the time of the push."""
    return _abi.Record(kind=kind, detail=detail, ticks=ticks)


def module(address: int, path: str) -> Message:
    """Returns the message that names the torch.nn.Module at an address."""
    record = _record(_abi.MODULE)
    record.define.address = address
    return record, path.encode()


def device(index: int, total_bytes: int, name: str, pci_bus_id: str, uuid: str) -> Message:
    """Returns the message that describes a GPU."""
    record = _record(_abi.DEVICE)
    record.device.total_bytes, record.device.device = total_bytes, index
    return record, "\0".join([name, pci_bus_id, uuid]).encode()


def mark(name: str, value: float | None, sequences: Sequence[int]) -> Message:
    """Returns the message that names this point in time. sequences: number of allocator events so far, per device."""
    record = _record(_abi.MARK)
    if value is not None:
        record.mark.value, record.mark.has_value = value, 1
    record.mark.devices = len(sequences)
    return record, struct.pack(f"={len(sequences)}Q", *sequences) + name.encode()


def step(source: int, number: int) -> Message:
    """Returns the message that ends a training step. source: STEP_SEEN or STEP_REPORTED."""
    record = _record(_abi.STEP, source)
    record.step.number = number
    return record, b""


def span(text: int, start_ticks: int) -> tuple[Message, Message]:
    """Returns the two messages of a range that ends now. text: id of its name."""
    begin = _record(_abi.SPAN, _abi.SPAN_BEGINS, start_ticks)
    begin.span.text = text
    return (begin, b""), end_of_span()


def wait_for_ranks(text: int) -> Message:
    """Returns the message that this thread waits for all ranks from now on. text: id of the range's name."""
    record = _record(_abi.SPAN, _abi.SPAN_OF_RANKS_BEGINS)
    record.span.text = text
    return record, b""


def end_of_span() -> Message:
    """Returns the message that the innermost range of this thread ends."""
    return _record(_abi.SPAN, _abi.SPAN_ENDS), b""


def rank(number: int, ranks: int) -> Message:
    """Returns the message that this process is rank `number` of so many."""
    record = _record(_abi.RANK)
    record.rank.rank, record.rank.ranks = number, ranks
    return record, b""


def heap_scan(reason: str, duration_ns: int, longest_ns: int, objects: int, tensors: int) -> Message:
    """Returns the message about a heap scan. objects: number visited. tensors: number of targets."""
    record = _record(_abi.HEAP_SCAN)
    scan = record.heap_scan
    scan.duration_ns, scan.longest_ns, scan.objects, scan.tensors = duration_ns, longest_ns, objects, tensors
    return record, _encode(reason)


def pauses(total_ns: int, longest_ns: int, count: int) -> Message:
    """Returns the message about the time in which the recorder's Python code stopped this thread."""
    record = _record(_abi.COST, _abi.COST_PAUSE)
    record.cost.duration_ns, record.cost.longest_ns, record.cost.count = total_ns, longest_ns, count
    return record, b""


def referrer(place: tuple[int, int, int, int], links: Iterable[tuple]) -> Message:
    """Returns the message with one retention path.

    place: (node, address, sequence, device) of the tensor. links: (kind, name, function, file, line), root first."""
    record = _record(_abi.REFERRER)
    body = record.referrer
    body.node, body.address, body.sequence, body.device = place
    return record, b"".join(map(_texts_of, links))


@functools.lru_cache(maxsize=4096)  # most paths of one scan share links
def _texts_of(link: tuple) -> bytes:
    return _encode("".join(str(text).replace("\0", "") + "\0" for text in link))


def _encode(text: str) -> bytes:
    return text.encode(errors="replace")  # names may contain lone surrogates


def named_phase(number: int, name: str) -> Message:
    """Returns the message that names a phase of the user."""
    record = _record(_abi.PHASE)
    record.define.id = number
    return record, name.encode()


def no_allocator() -> Message:
    """Returns the message that no caching allocator reports events, so those of the driver count."""
    return _record(_abi.NO_ALLOCATOR), b""


def data_gap(reason: str, details: object) -> Message:
    """Returns the message about a part that is not recorded. reason: a word of DataGapReason (trace/facts.h)."""
    return _record(_abi.DATA_GAP, GAP_NOT_RECORDED), f"{reason}\0{details}".encode()


def meta(key: str, value: str) -> Message:
    """Returns the message with a setting or a version."""
    return _record(_abi.META), f"{key}\0{value}".encode()
