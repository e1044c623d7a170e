"""The records the Python side writes, as recorder/core/records.h lays them out: 16 bytes of head, 48 of body."""

import struct

MODULE, DEVICE, MARK, STEP, SPAN, PHASE, LOSS, META, REFERRER_SCAN, REFERRER = 6, 7, 9, 10, 11, 12, 15, 16, 22, 23
PHASE_FIRST_NAMED = 16
KNOWN_PHASES = {"forward": 1, "backward": 2, "optimizer": 3, "eval": 4}
END_STOPPED, END_EXITED, END_EXCEPTION, END_INTERRUPTED = range(4)
LOSS_NOT_RECORDED = 10
STEP_SEEN, STEP_REPORTED = 0, 1
SPAN_BEGINS, SPAN_ENDS = 0, 1

_HEAD = struct.Struct("=BBHIQ")
BODY_BYTES = 48


def _record(kind, detail, body=b"", ticks=0):
    """ticks: 0 is now."""
    return _HEAD.pack(kind, detail, 0, 0, ticks) + body.ljust(BODY_BYTES, b"\0")


def module(address, path):
    return _record(MODULE, 0, struct.pack("=IIIIqqQ", 0, 0, 0, 0, 0, 0, address)), path.encode()


def device(index, total_bytes, name, pci_bus_id, uuid):
    return _record(DEVICE, 0, struct.pack("=QI", total_bytes, index)), "\0".join([name, pci_bus_id, uuid]).encode()


def mark(name, value, sequences):
    body = struct.pack("=dII", 0.0 if value is None else value, value is not None, len(sequences))
    return _record(MARK, 0, body), struct.pack(f"={len(sequences)}Q", *sequences) + name.encode()


def step(source, number):
    return _record(STEP, source, struct.pack("=Q", number)), b""


def span(text, began):
    """The two messages of a range that ends now; `began` in ticks."""
    body = struct.pack("=II", text, 0)
    return (_record(SPAN, SPAN_BEGINS, body, began), b""), (_record(SPAN, SPAN_ENDS, body), b"")


def heap_scan(reason, duration_ns, objects, tensors):
    return _record(REFERRER_SCAN, 0, struct.pack("=QQQ", duration_ns, objects, tensors)), _text(reason)


def referrer(place, links):
    """place: (node, address, sequence, device) of the tensor; links: (kind, name, function, file, line)."""
    node, address, sequence, device = place
    texts = (str(text).replace("\0", "") + "\0" for link in links for text in link)
    return _record(REFERRER, 0, struct.pack("=QQIB", address, sequence, node, device)), _text("".join(texts))


def _text(words):
    return words.encode(errors="replace")  # names may hold what is no Unicode text


def named_phase(number, name):
    return _record(PHASE, 0, struct.pack("=I", number)), name.encode()


def loss(reason, details):
    """`reason`: a word of DataGapReason (storage/format/facts.h)."""
    return _record(LOSS, LOSS_NOT_RECORDED), f"{reason}\0{details}".encode()


def meta(key, value):
    return _record(META, 0), f"{key}\0{value}".encode()
