# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""OCR service for scanned insurance claims: a queue of pages, a few reader threads, a status page."""
import collections
import json
import logging
import os
import queue
import sys
import threading
import time
from dataclasses import dataclass

import torch
import torch.nn as nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ALPHABET = " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:;-/()%&'+#*=@!?_\"$<>[]{}|~^\\`"
log = logging.getLogger("claims")


@dataclass(frozen=True)
class Settings:
    height: int = 192 if SMALL else 2304
    width: int = 128 if SMALL else 1664
    channels: int = 12 if SMALL else 192
    strip: int = 12
    readers: int = 3
    intakes: int = 4 if SMALL else 30
    claims_per_intake: int = 12
    min_ink: float = 0.02
    archive_latency: float = 0.002 if SMALL else 0.12
    seed: int = 2210


class UnreadableScan(ValueError):
    """The page came through the feeder empty or upside down."""


@dataclass
class Claim:
    number: int
    scan: torch.Tensor
    attempts: int = 0


class IncidentBoard(logging.Handler):
    """Feeds the status page: what went wrong today, by kind, and the last few messages."""

    def __init__(self):
        super().__init__(level=logging.ERROR)
        self.records = []

    def emit(self, record):
        self.records.append(record)

    def summary(self):
        kinds = collections.Counter(r.exc_info[0].__name__ for r in self.records if r.exc_info)
        return {"kinds": dict(kinds), "latest": [r.getMessage() for r in self.records[-3:]]}


class OneLine(logging.Formatter):
    def formatException(self, info):
        return f"  {info[0].__name__}: {info[1]}"


class PageReader(nn.Module):
    def __init__(self, s):
        super().__init__()
        c = s.channels
        self.strip = s.strip
        self.backbone = nn.Sequential(nn.Conv2d(1, c // 4, 3, 2, 1), nn.ReLU(inplace=True),
                                      nn.Conv2d(c // 4, c // 2, 3, 2, 1), nn.ReLU(inplace=True),
                                      nn.Conv2d(c // 2, c, 3, 2, 1), nn.ReLU(inplace=True))
        self.mix = nn.Conv1d(c, c, 5, padding=2)
        self.letters = nn.Linear(c, len(ALPHABET))

    def read_lines(self, features):
        _, c, h, w = features.shape
        strips = features[0].view(c, h // self.strip, self.strip, w).mean(2).transpose(0, 1)
        return self.letters(self.mix(strips).relu().transpose(1, 2))


class OcrService:
    def __init__(self, settings):
        self.settings = settings
        self.reader = PageReader(settings).to(DEVICE).eval()
        self.inbox = queue.Queue(maxsize=2 * settings.claims_per_intake)
        self.results = collections.deque(maxlen=200)
        self.threads = [threading.Thread(target=self._read_claims, name=f"reader-{i}", daemon=True)
                        for i in range(settings.readers)]
        for thread in self.threads:
            thread.start()

    def _read_claims(self):
        while (claim := self.inbox.get()) is not None:
            try:
                self.results.append((claim.number, self.transcribe(claim)))
            except UnreadableScan:
                log.exception("claim %d sent back to the mail room", claim.number)
            finally:
                self.inbox.task_done()

    @torch.inference_mode()
    def transcribe(self, claim):
        time.sleep(self.settings.archive_latency)
        page = claim.scan.to(DEVICE).float().div_(255)[None, None]
        features = self.reader.backbone(page)
        logits = self.reader.read_lines(features)
        return self.to_fields(claim, page, logits)

    def to_fields(self, claim, page, logits):
        probs = logits.softmax(-1)
        confidence, letters = probs.max(-1)
        ink = (page > 0.5).float().mean().item()
        if ink < self.settings.min_ink:
            raise UnreadableScan(f"claim {claim.number}: {100 * ink:.2f} % ink")
        lines = ["".join(ALPHABET[i] for i in row) for row in letters.tolist()]
        return {"policy": lines[0][:12], "amount": lines[-1][:10], "confidence": round(confidence.mean().item(), 3)}

    def stop(self):
        for _ in self.threads:
            self.inbox.put(None)
        for thread in self.threads:
            thread.join()


def mail_room(settings, intake):
    gen = torch.Generator().manual_seed(settings.seed + intake)
    for i in range(settings.claims_per_intake):
        number = intake * settings.claims_per_intake + i
        scan = torch.randint(256, (settings.height, settings.width), generator=gen, dtype=torch.uint8)
        if number % 6 == 4:
            scan.div_(32, rounding_mode="floor")
        yield Claim(number, scan)


def main():
    settings = Settings()
    torch.manual_seed(settings.seed)
    console, board = logging.StreamHandler(sys.stdout), IncidentBoard()
    console.setFormatter(OneLine("%(levelname)s %(threadName)s %(message)s"))
    log.addHandler(console)
    log.addHandler(board)
    log.propagate = False

    service, allocated = OcrService(settings), []
    for intake in range(settings.intakes):
        for claim in mail_room(settings, intake):
            service.inbox.put(claim)
        service.inbox.join()
        allocated.append(torch.cuda.memory_allocated())
        print(f"intake {intake:2d}: {len(service.results)} results at hand, {board.summary()['kinds']}", flush=True)
    service.stop()
    print(json.dumps(board.summary(), indent=1))
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": settings.intakes}), file=sys.stderr)
    return service, board


if __name__ == "__main__":
    main()
