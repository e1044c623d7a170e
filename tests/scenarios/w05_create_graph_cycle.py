"""W5: backward(create_graph=True) on a copy of the model leaves gradients whose graph refers to their
parameters: a cycle in C++ that outlives the copy and is invisible to Python's garbage collector."""

import copy

import torch
from torch import nn
from torch.nn import functional

import scenario
import truth
from noise import Noise


def adapt(model, support):
    """One inner step of meta-learning: the gradient's own gradient is needed later."""
    learner = copy.deepcopy(model)
    loss = functional.mse_loss(learner(support), support)
    loss.backward(create_graph=True)
    return sum(parameter.grad.square().sum() for parameter in learner.parameters())


def meta_train(model, tasks, batch_size, noise):
    norms, growth = [], truth.Growth()
    for _ in range(tasks):
        support = torch.randn(batch_size, 256, device="cuda")
        penalty = adapt(model, support)
        norms.append(penalty.item())
        del penalty, support
        noise.iteration()
        growth.iteration()
    growth.write()
    return norms


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.wide(1024)
    model = nn.Sequential(nn.Linear(256, width), nn.Tanh(), nn.Linear(width, 256)).cuda()
    norms = meta_train(model, 20, options.many(256), noise)
    print(f"norm {norms[-1]:.4f}, {torch.cuda.memory_allocated():,} bytes allocated")


main()
