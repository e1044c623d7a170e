"""The records the Python side writes, as recorder/core/records.h lays them out: 16 bytes of head, 48 of body."""

import struct

MODULE, DEVICE, MARK, STEP, PHASE, LOSS, META = 6, 7, 9, 10, 12, 15, 16
PHASE_FIRST_NAMED = 16
KNOWN_PHASES = {"forward": 1, "backward": 2, "optimizer": 3, "eval": 4}
END_STOPPED, END_EXITED, END_EXCEPTION, END_INTERRUPTED = range(4)
LOSS_NOT_RECORDED = 10
STEP_SEEN, STEP_TOLD = 0, 1

_HEAD = struct.Struct("=BBHIQ")
BODY_BYTES = 48


def _record(kind, detail, body=b""):
    return _HEAD.pack(kind, detail, 0, 0, 0) + body.ljust(BODY_BYTES, b"\0")


def module(address, path):
    return _record(MODULE, 0, struct.pack("=IIIIqqQ", 0, 0, 0, 0, 0, 0, address)), path.encode()


def device(index, total_bytes, name, pci_bus_id, uuid):
    return _record(DEVICE, 0, struct.pack("=QI", total_bytes, index)), "\0".join([name, pci_bus_id, uuid]).encode()


def mark(name, value, sequences):
    body = struct.pack("=dII", 0.0 if value is None else value, value is not None, len(sequences))
    return _record(MARK, 0, body), struct.pack(f"={len(sequences)}Q", *sequences) + name.encode()


def step(source, number):
    return _record(STEP, source, struct.pack("=Q", number)), b""


def named_phase(number, name):
    return _record(PHASE, 0, struct.pack("=I", number)), name.encode()


def loss(sentence):
    return _record(LOSS, LOSS_NOT_RECORDED), sentence.encode()


def meta(key, value):
    return _record(META, 0), f"{key}\0{value}".encode()
