"""A loop for DistributedDataParallel; ported.py is the same loop for dasgd.

    RANK=0 WORLD_SIZE=2 MASTER_ADDR=... MASTER_PORT=... python3 ddp.py     and so on, or torchrun
"""
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(4096, 16)
data = TensorDataset(x, (x[:, :8].sum(1) > x[:, 8:].sum(1)).long())
model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
sampler = DistributedSampler(data)
for epoch in range(3):
    sampler.set_epoch(epoch)
    for inputs, labels in DataLoader(data, batch_size=32, sampler=sampler):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
dist.barrier()
accuracy = (model(x).argmax(1) == data.tensors[1]).float().mean()
print(f"accuracy {accuracy:.3f}")
