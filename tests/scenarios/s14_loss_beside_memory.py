"""S14: MSELoss(reduction="sum") instead of the mean, and a broadcast of (3, 1, 5) with (4, 5).

    python s14_loss_beside_memory.py [--reduction sum|mean] [--size small|medium|large]

The losses are marks. expand() allocates nothing; the sum allocates its result; contiguous() allocates a full copy.
"""

import tidemark
import torch
from torch import nn

import scenario
import truth
from noise import Noise

parser = scenario.parser(__doc__)
parser.add_argument("--reduction", choices=["sum", "mean"], default="sum")
options = scenario.parse(parser)

torch.manual_seed(0)
noise = Noise(options.noise)
model = nn.Linear(256, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.MSELoss(reduction=options.reduction)
inputs, targets = torch.randn(512, 256, device="cuda"), torch.randn(512, 64, device="cuda")
for step in range(12):
    optimizer.zero_grad()
    loss = criterion(model(inputs), targets)
    loss.backward()
    optimizer.step()
    tidemark.mark("loss", value=loss)
    noise.iteration()

rows = options.many(2**10)
wide, flat = torch.randn(3 * rows, 1, 5, device="cuda"), torch.randn(4 * 2**10, 5, device="cuda")
view = wide.expand(3 * rows, 4 * 2**10, 5)
tidemark.mark("expanded")
total = wide + flat
tidemark.mark("added")
copy = view.contiguous()
tidemark.mark("materialised")
truth.write(bytes=truth.bytes_of([copy]), result=truth.bytes_of([total]))
print(f"loss {loss.item():.3g}, {torch.cuda.memory_allocated():,} bytes allocated")
