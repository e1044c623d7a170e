"""W45: a model puts its masks into a queue without a limit, and the thread that saves them is slower."""

import queue
import threading
import time

import torch
from torch import nn

import scenario
import truth
from noise import Noise

BATCHES = 60


def save_masks(masks, saved):
    """Compresses one mask after the other, slower than they come."""
    while (mask := masks.get()) is not None:
        saved.append(mask.float().mean().item())
        time.sleep(0.1)


def segment(model, batch_size, masks, noise):
    for _ in range(BATCHES):
        images = torch.randn(batch_size, 256, device="cuda")
        with torch.inference_mode():
            masks.put(model(images) > 0)
        time.sleep(0.02)
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 4096)).cuda().eval()
    masks, saved = queue.Queue(), []
    threading.Thread(target=save_masks, args=(masks, saved), daemon=True).start()
    segment(model, options.many(512), masks, noise)
    truth.write(iterations=BATCHES)  # how many masks wait depends on the time
    print(f"{masks.qsize()} masks wait, {torch.cuda.memory_allocated():,} bytes allocated")


main()
