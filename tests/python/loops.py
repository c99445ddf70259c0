"""Small loops of PyTorch that tests compare."""

import torch


def data(seed=1, rows=512):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, 8, generator=g)
    y = (x.sum(1) > 0).long()
    return x, y


def network(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))


def batches(count, size=32):
    x, y = data()
    for k in range(count):
        at = (k * size) % len(x)
        yield x[at : at + size], y[at : at + size]


def loop(model, step, count=100):
    device = next(model.parameters()).device
    losses = []
    for x, y in batches(count):
        loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        step(loss)
        losses.append(float(loss.detach()))
    return losses


def stepping(optimizer):
    """A step as a loop without a peer takes it."""

    def step(loss=None):
        optimizer.step()
        optimizer.zero_grad()

    return step


def plain(make_optimizer, count=100, device="cpu"):
    model = network().to(device)
    return loop(model, stepping(make_optimizer(model.parameters())), count), model
