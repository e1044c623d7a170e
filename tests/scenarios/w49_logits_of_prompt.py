"""W49: a language model completes prompts; it computes the logits of all positions, and the program uses the last."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

PROMPTS = 12
TOKENS = 6
VOCABULARY = 32768


class TinyForCausalLM(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.mixer = nn.Linear(width, width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, tokens, state=None):
        hidden = torch.tanh(self.mixer(self.embedding(tokens)))
        hidden = hidden if state is None else hidden + state
        return self.head(hidden), hidden[:, -1:].clone()


def pick(logits):
    return logits[:, -1].float().argmax(-1, keepdim=True)


def complete(model, prompt):
    logits, state = model(prompt)
    token = pick(logits)
    for _ in range(TOKENS):
        logits, state = model(token, state)
        token = pick(logits)
    return token


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = TinyForCausalLM(128).cuda().eval()
    positions = options.many(256)
    for _ in range(PROMPTS):
        prompt = torch.randint(VOCABULARY, (8, positions), device="cuda")
        with torch.inference_mode():
            complete(model, prompt)
        noise.iteration()
    truth.write(bytes=8 * (positions - 1) * VOCABULARY * 4, iterations=PROMPTS)
    print(f"{PROMPTS} prompts, {torch.cuda.max_memory_allocated():,} bytes at the peak")


main()
