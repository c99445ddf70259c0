"""The loop of ddp.py for dasgd: five lines are others. One worker, or as many as are started:

    python3 ported.py
    dasgd launch -n 2 -- python3 ported.py
    dasgd launch -n 2 --elastic -- python3 ported.py
"""
import torch
import dasgd.torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(4096, 16)
data = TensorDataset(x, (x[:, :8].sum(1) > x[:, 8:].sum(1)).long())
model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
peer = dasgd.torch.Peer(model, optimizer=optimizer, batch=32, total_gradients=3 * len(data) // 32)
sampler = peer.sampler(data)
for epoch in range(3):
    sampler.set_epoch(epoch)
    for inputs, labels in DataLoader(data, batch_size=32, sampler=sampler):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        peer.step(loss)
peer.finish()
accuracy = (model(x).argmax(1) == data.tensors[1]).float().mean()
print(f"accuracy {accuracy:.3f}")
