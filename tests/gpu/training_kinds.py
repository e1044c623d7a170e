"""Four kinds of training on random data: what every allocation at the peak is should be known.

    python training_kinds.py resnet|lstm|gan|gpt2 [--steps 6] [--count-saved]

--count-saved counts, by saved_tensors_hooks, the bytes each step saves for backward: run it apart from a recording.
"""

import argparse
import json

import torch
from torch import nn
from torch.nn import functional

import gpt2


class Bottleneck(nn.Module):
    def __init__(self, width, inner, stride=1):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, inner, 1, bias=False), nn.BatchNorm2d(inner)
        self.conv2, self.bn2 = nn.Conv2d(inner, inner, 3, stride, 1, bias=False), nn.BatchNorm2d(inner)
        self.conv3, self.bn3 = nn.Conv2d(inner, 4 * inner, 1, bias=False), nn.BatchNorm2d(4 * inner)
        self.shortcut = None
        if stride != 1 or width != 4 * inner:
            self.shortcut = nn.Sequential(nn.Conv2d(width, 4 * inner, 1, stride, bias=False), nn.BatchNorm2d(4 * inner))

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)), inplace=True)
        y = functional.relu(self.bn2(self.conv2(y)), inplace=True)
        y = self.bn3(self.conv3(y))
        return functional.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
                                  nn.MaxPool2d(3, 2, 1))  # fmt: skip
        blocks, width = [], 64
        for inner, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for number in range(count):
                blocks.append(Bottleneck(width, inner, stride if number == 0 else 1))
                width = 4 * inner
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(width, 1000)

    def forward(self, x):
        return self.fc(self.blocks(self.stem(x)).mean((2, 3)))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5000, 256)
        self.lstm = nn.LSTM(256, 512, num_layers=2, batch_first=True, dropout=0.2)
        self.head = nn.Linear(512, 50)

    def forward(self, tokens):
        return self.head(self.lstm(self.embedding(tokens))[0])


def resnet():
    model = ResNet50().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")

    def step():
        images = torch.randn(16, 3, 224, 224).cuda()
        labels = torch.randint(0, 1000, (16,)).cuda()
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.float16):
            loss = functional.cross_entropy(model(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    return step


def lstm():
    model = Tagger().cuda()
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        tokens = torch.randint(0, 5000, (32, 128), device="cuda")
        optimizer.zero_grad()
        scores = model(tokens)
        functional.cross_entropy(scores.flatten(0, 1), tokens.flatten() % 50).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def gan():
    generator = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 3072), nn.Tanh()).cuda()
    critic = nn.Sequential(nn.Linear(3072, 1024), nn.LeakyReLU(0.2), nn.Linear(1024, 1)).cuda()
    of_generator = torch.optim.Adam(generator.parameters(), lr=2e-4)
    of_critic = torch.optim.RMSprop(critic.parameters(), lr=2e-4)

    def step():
        real = torch.rand(256, 3072, device="cuda")
        fake = generator(torch.randn(256, 128, device="cuda"))
        of_critic.zero_grad()
        (critic(fake.detach()).mean() - critic(real).mean()).backward()
        of_critic.step()
        of_generator.zero_grad()
        (-critic(fake).mean()).backward()
        of_generator.step()

    return step


def transformer():
    model = gpt2.GPT2().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step():
        tokens = torch.randint(0, 50257, (4, 256)).cuda()
        optimizer.zero_grad()
        model(tokens).backward()
        optimizer.step()

    return step


KINDS = {"resnet": resnet, "lstm": lstm, "gan": gan, "gpt2": transformer}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--count-saved", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    step = KINDS[options.kind]()
    saved = []

    def count(tensor):
        saved[-1] += tensor.numel() * tensor.element_size()
        return tensor

    for _ in range(options.steps):
        saved.append(0)
        if options.count_saved:
            with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
                step()
        else:
            step()
    print(json.dumps({"kind": options.kind, "peak": torch.cuda.max_memory_allocated(), "saved_per_step": saved}))


if __name__ == "__main__":
    main()
