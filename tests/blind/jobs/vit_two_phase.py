"""ViT in two phases: short warm-up, then fine tuning from the stored EMA weights.

    torchrun --nproc-per-node 2 vit_two_phase.py
"""
import argparse
import gc
import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.models.vision_transformer import VisionTransformer


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--layers", type=int, default=24)
    p.add_argument("--hidden", type=int, default=1024)
    p.add_argument("--heads", type=int, default=16)
    p.add_argument("--size", type=int, default=224)
    p.add_argument("--classes", type=int, default=200)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--warmup-steps", type=int, default=30)
    p.add_argument("--finetune-steps", type=int, default=150)
    p.add_argument("--checkpoint", default=os.path.join(tempfile.gettempdir(), "vit_two_phase.pt"))
    return p.parse_args()


def create_model(args, device):
    torch.manual_seed(0)
    net = VisionTransformer(
        image_size=args.size, patch_size=16, num_layers=args.layers, num_heads=args.heads,
        hidden_dim=args.hidden, mlp_dim=4 * args.hidden, num_classes=args.classes)
    return net.to(device)


class SyntheticImages:
    """Class dependent colour gradients with noise."""

    def __init__(self, args, device, seed):
        self.args, self.device = args, device
        self.gen = torch.Generator(device).manual_seed(seed)
        base = torch.Generator().manual_seed(1)
        self.colour = torch.randn(args.classes, 3, 1, 1, generator=base).to(device)
        self.ramp = torch.linspace(-1, 1, args.size, device=device)

    def __call__(self):
        a = self.args
        y = torch.randint(0, a.classes, (a.batch,), generator=self.gen, device=self.device)
        noise = torch.randn(a.batch, 3, a.size, a.size, generator=self.gen, device=self.device)
        return self.colour[y] * self.ramp + 0.5 * noise, y


def train_step(model, opt, x, y, device):
    with torch.autocast(device.type, dtype=torch.bfloat16):
        logits = model(x)
        loss = F.cross_entropy(logits, y, label_smoothing=0.1)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    return loss.detach()


def warm_up(args, rank, device):
    model = create_model(args, device)
    ema = {k: v.detach().clone() for k, v in model.state_dict().items()}
    ddp = DDP(model, device_ids=[device.index] if device.type == "cuda" else None)
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    data = SyntheticImages(args, device, 10 + rank)
    for step in range(args.warmup_steps):
        loss = train_step(ddp, opt, *data(), device)
        with torch.no_grad():
            for k, v in model.state_dict().items():
                ema[k].lerp_(v, 0.1)
    if rank == 0:
        torch.save({"model": model.state_dict(), "ema": ema, "step": args.warmup_steps,
                    "loss": loss.item()}, args.checkpoint)
        print(f"warm-up done, loss {loss.item():.3f}", flush=True)


def finetune(args, rank, device):
    ckpt = torch.load(args.checkpoint)
    model = create_model(args, device)
    model.load_state_dict(ckpt["ema"])
    model = DDP(model, device_ids=[device.index] if device.type == "cuda" else None)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.05)
    data = SyntheticImages(args, device, 500 + rank)
    mean = None
    for i in range(1, args.finetune_steps + 1):
        loss = train_step(model, opt, *data(), device)
        mean = loss if mean is None else mean.lerp(loss, 0.1)
        if i % 30 == 0 and rank == 0:
            print(f"step {ckpt['step'] + i} loss {mean.item():.3f} (warm-up ended at {ckpt['loss']:.3f})", flush=True)
    return mean.item()


def main():
    args = get_args()
    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    rank = dist.get_rank()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    warm_up(args, rank, device)
    gc.collect()
    if cuda:
        torch.cuda.empty_cache()
    dist.barrier()
    final = finetune(args, rank, device)
    dist.barrier()
    if rank == 0:
        print(f"final loss {final:.3f}")
        os.remove(args.checkpoint)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
