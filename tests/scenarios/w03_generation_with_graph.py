"""W3: a recurrent policy acts step by step with a hidden state; without no_grad the graph of all steps stays
alive."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


class Policy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Linear(32, width)
        self.memory = nn.GRUCell(width, width)
        self.actor = nn.Linear(width, 32)

    def forward(self, observation, state):
        state = self.memory(torch.relu(self.encoder(observation)), state)
        return self.actor(state), state


def play(policy, players, noise):
    growth = truth.Growth()
    observation = torch.randn(players, 32, device="cuda")
    state = torch.zeros(players, policy.memory.hidden_size, device="cuda")
    for _ in range(40):
        logits, state = policy(observation, state)
        observation = torch.randn(players, 32, device="cuda") + logits.argmax(1, keepdim=True)
        noise.iteration()
        growth.iteration()
    growth.write()
    print(f"played 40 steps, {torch.cuda.memory_allocated():,} bytes allocated")


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    play(Policy(256).cuda().eval(), options.many(1024), noise)


main()
