"""Two generation workers fed through queues: one for batch scoring, one for chat.

    python chat_workers.py
"""
import random
import time

import torch
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F

DIM, HEADS, LAYERS, VOCAB = 1024, 16, 12, 16000
CONTEXT, PROMPT, REPLY = 768, 384, 24
N_SESSIONS, TURNS, N_SCORE_JOBS, SCORE_BATCH = 150, 2, 900, 16


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x, cache, length):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        if cache is not None:
            cache[0][:, :, length:length + t] = k
            cache[1][:, :, length:length + t] = v
            k, v = cache[0][:, :, : length + t], cache[1][:, :, : length + t]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1 and length == 0)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, DIM))
        return x + self.mlp(self.n2(x))


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, DIM), nn.Embedding(CONTEXT, DIM)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(DIM), nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, ids, caches=None, length=0):
        x = self.tok(ids) + self.pos(torch.arange(length, length + ids.shape[1], device=ids.device))
        for i, layer in enumerate(self.layers):
            x = layer(x, caches[i] if caches else None, length)
        return self.head(self.norm(x))


class Session:
    def __init__(self, sid, device, dtype):
        self.sid, self.length, self.open = sid, 0, True
        shape = (1, HEADS, CONTEXT, DIM // HEADS)
        self.kv = [[torch.zeros(shape, device=device, dtype=dtype) for _ in range(2)] for _ in range(LAYERS)]


class Engine:
    def __init__(self, index):
        cuda = torch.cuda.is_available()
        self.device = torch.device("cuda", index) if cuda else torch.device("cpu")
        self.dtype = torch.bfloat16 if cuda else torch.float32
        if cuda:
            torch.cuda.set_device(self.device)
        torch.manual_seed(0)
        self.model = LM().to(self.device, self.dtype).eval()
        self.sessions = {}

    def score(self, ids):
        ids = torch.from_numpy(ids).to(self.device)
        logits = self.model(ids[:, :-1]).float()
        return -F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).item()

    def chat(self, sid, ids):
        session = self.sessions.get(sid)
        if session is None:
            session = self.sessions[sid] = Session(sid, self.device, self.dtype)
        ids, reply = torch.from_numpy(ids), []
        for token in ids.split(1) if session.length else [ids]:
            token = token.to(self.device)[None]
            logits = self.model(token, session.kv, session.length)
            session.length += token.shape[1]
        for _ in range(REPLY):
            nxt = logits[:, -1].argmax(-1, keepdim=True)
            reply.append(nxt.item())
            logits = self.model(nxt, session.kv, session.length)
            session.length += 1
        return reply

    def close(self, sid):
        self.sessions[sid].open = False

    def stats(self):
        return {"open": sum(s.open for s in self.sessions.values()), "served": len(self.sessions)}


@torch.inference_mode()
def worker(index, inboxes, outbox):
    engine = Engine(index)
    while True:
        job = inboxes[index].get()
        if job is None:
            outbox.put((index, "stats", None, engine.stats()))
            return
        kind, key, payload = job
        if kind == "score":
            outbox.put((index, kind, key, engine.score(payload)))
        elif kind == "chat":
            outbox.put((index, kind, key, engine.chat(key, payload)))
        elif kind == "close":
            engine.close(key)


def submit(inboxes):
    """Chat is latency bound and gets its own worker, scoring runs on the other."""
    rng = random.Random(0)
    expected = 0
    for n in range(N_SCORE_JOBS):
        inboxes[0].put(("score", n, torch.randint(0, VOCAB, (SCORE_BATCH, CONTEXT)).numpy()))
        expected += 1
    for sid in range(N_SESSIONS):
        for turn in range(TURNS):
            size = PROMPT if turn == 0 else rng.randint(4, 12)
            inboxes[1].put(("chat", sid, torch.randint(0, VOCAB, (size,)).numpy()))
            expected += 1
        inboxes[1].put(("close", sid, None))
    for box in inboxes:
        box.put(None)
    return expected + len(inboxes)


if __name__ == "__main__":
    ctx = mp.get_context("spawn")
    boxes, results = [ctx.Queue(), ctx.Queue()], ctx.Queue()
    procs = mp.spawn(worker, args=(boxes, results), nprocs=2, join=False)
    began, done = time.time(), {"score": 0, "chat": 0, "stats": 0}
    for _ in range(submit(boxes)):
        index, kind, key, value = results.get()
        done[kind] += 1
        if kind == "stats" or done[kind] % 50 == 0:
            print(f"{time.time() - began:5.1f}s worker {index} {kind} {done[kind]} {value if kind == 'stats' else ''}", flush=True)
    procs.join()
