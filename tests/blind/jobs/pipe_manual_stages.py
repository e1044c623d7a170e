"""Hand written two stage pipeline: rank 0 runs the encoder, rank 1 the decoder and the loss.

    torchrun --nproc-per-node 2 pipe_manual_stages.py
"""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

DIM, HEADS, SEQ, CHANNELS = 2048, 16, 512, 64
DEPTH = (8, 8)
MICRO_BATCH, N_MICRO, STEPS = 4, 4, 120
HALF = torch.bfloat16


def block():
    return nn.TransformerEncoderLayer(
        DIM, HEADS, 4 * DIM, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)


class Front(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(CHANNELS, DIM)
        self.pos = nn.Parameter(torch.randn(SEQ, DIM) * 0.02)
        self.body = nn.Sequential(*[block() for _ in range(DEPTH[0])])

    def forward(self, x):
        return self.body(self.inp(x) + self.pos)


class Back(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*[block() for _ in range(DEPTH[1])])
        self.out = nn.Linear(DIM, CHANNELS)

    def forward(self, h):
        return self.out(self.body(h))


class Channel:
    """Point to point link between the two stages, addressed by (step, microbatch)."""

    def __init__(self, peer, device):
        self.peer, self.device = peer, device
        self.shape = (MICRO_BATCH, SEQ, DIM)
        self.slots = {}

    def push(self, tensor):
        dist.send(tensor.contiguous(), self.peer)

    def pull(self, key, grad=False):
        buf = torch.empty(self.shape, dtype=HALF, device=self.device)
        dist.recv(buf, self.peer)
        if grad:
            buf.requires_grad_()
        self.slots[key] = buf
        return buf

    def get(self, key):
        return self.slots[key]


class Stage:
    def __init__(self, module, channel):
        self.module, self.channel = module, channel
        self.opt = torch.optim.AdamW(module.parameters(), lr=1e-4)

    def finish(self):
        nn.utils.clip_grad_norm_(self.module.parameters(), 1.0)
        self.opt.step()
        self.opt.zero_grad(set_to_none=True)


class FrontStage(Stage):
    def step(self, number, noisy, clean):
        outs = []
        for m in range(N_MICRO):
            out = self.module(noisy[m])
            outs.append(out)
            self.channel.push(out.detach())
        grad = torch.empty(self.channel.shape, dtype=HALF, device=self.channel.device)
        for m in range(N_MICRO):
            dist.recv(grad, self.channel.peer)
            outs[m].backward(grad)
        self.finish()


class BackStage(Stage):
    def __init__(self, module, channel):
        super().__init__(module, channel)
        self.curve = []

    def step(self, number, noisy, clean):
        for m in range(N_MICRO):
            self.channel.pull((number, m), grad=True)
        total = 0.0
        for m in range(N_MICRO):
            h = self.channel.get((number, m))
            loss = F.mse_loss(self.module(h).float(), clean[m].float()) / N_MICRO
            loss.backward()
            total += loss.item()
            self.channel.push(h.grad)
        self.finish()
        self.curve.append(total)
        if (number + 1) % 20 == 0:
            print(f"step {number + 1} mse {sum(self.curve[-20:]) / 20:.4f}", flush=True)


def signals(gen, device):
    t = torch.linspace(0, 1, SEQ, device=device)[:, None]
    freq = torch.rand(N_MICRO, MICRO_BATCH, 1, CHANNELS, generator=gen, device=device) * 20
    clean = torch.sin(2 * torch.pi * freq * t)
    noisy = clean + 0.3 * torch.randn(clean.shape, generator=gen, device=device)
    return noisy.to(HALF), clean.to(HALF)


def main():
    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    rank = dist.get_rank()
    if cuda:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    device = torch.device("cuda", torch.cuda.current_device()) if cuda else torch.device("cpu")
    torch.manual_seed(rank)
    channel = Channel(peer=1 - rank, device=device)
    if rank == 0:
        stage = FrontStage(Front().to(device, HALF), channel)
    else:
        stage = BackStage(Back().to(device, HALF), channel)
    gen = torch.Generator(device).manual_seed(77)  # both stages draw the same data
    for number in range(STEPS):
        noisy, clean = signals(gen, device)
        stage.step(number, noisy, clean)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
