"""W50: a teacher labels all data before training; a variable retains it to the end."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

BATCHES = 6
STEPS = 24


class Teacher(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(width, width) for _ in range(4)])
        self.head = nn.Linear(width, 10)

    def forward(self, data):
        return self.head(torch.relu(self.layers(data)))


def label(teacher, batches):
    with torch.inference_mode():
        return [teacher(batch).argmax(1).cpu() for batch in batches]


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.wide(2048)
    batches = [torch.randn(64, width, device="cuda") for _ in range(BATCHES)]
    teacher = Teacher(width).cuda().eval()
    labels = label(teacher, batches)
    student = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, 10)).cuda()
    optimizer = torch.optim.Adam(student.parameters())
    for step in range(STEPS):
        number = step % BATCHES
        loss = nn.functional.cross_entropy(student(batches[number]), labels[number].cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        noise.iteration()
    truth.write(bytes=truth.bytes_of(teacher.parameters()), iterations=STEPS)
    print(f"{STEPS} steps, {torch.cuda.memory_allocated():,} bytes at the end")


main()
