"""W6: a backward hook on the features refers to the output computed from them: output -> graph -> hook -> output,
in each iteration."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


class Classifier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(256, width), nn.ReLU())
        self.head = nn.Linear(width, 1000)

    def forward(self, x):
        features = self.body(x)
        return features, self.head(features)


def watch_saliency(features, output, scores):
    def hook(gradient):
        scores.append((gradient * features).sum().item() / output.detach().norm().item())

    features.register_hook(hook)


def train(model, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scores, growth = [], truth.Growth()
    for _ in range(30):
        optimizer.zero_grad()
        features, output = model(torch.randn(batch_size, 256, device="cuda"))
        watch_saliency(features, output, scores)
        output.square().mean().backward()
        optimizer.step()
        del features, output
        noise.iteration()
        growth.iteration()
    growth.write()
    return scores


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    scores = train(Classifier(512).cuda(), options.many(1024), noise)
    print(f"{len(scores)} scores, {torch.cuda.memory_allocated():,} bytes allocated")


main()
