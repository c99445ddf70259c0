"""A loop in the style of Hugging Face: a model that computes its own loss, AdamW with two groups of parameters, warm-up,
gradients of several batches for one step, bf16 where it pays, and a checkpoint to go on from.

    python3 trainer_style.py
    dasgd launch -n 2 -- python3 trainer_style.py --steps 200
    dasgd launch -n 2 --elastic -- python3 trainer_style.py
    python3 trainer_style.py --checkpoint state.pt          twice: the second goes on where the first has ended
"""
import argparse
import contextlib
from types import SimpleNamespace

import torch
import dasgd.torch

arguments = argparse.ArgumentParser()
arguments.add_argument("--steps", type=int, default=200)
arguments.add_argument("--accumulate", type=int, default=4)
arguments.add_argument("--bf16", action="store_true")
arguments.add_argument("--checkpoint")
arguments = arguments.parse_args()


class LanguageModel(torch.nn.Module):
    """Says which letter comes next."""

    def __init__(self, letters=32, width=32):
        super().__init__()
        self.embed = torch.nn.Embedding(letters, width)
        self.block = torch.nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.head = torch.nn.Linear(width, letters)

    def forward(self, input_ids, labels):
        length = input_ids.shape[1]
        later = torch.triu(torch.full((length, length), float("-inf")), diagonal=1)
        logits = self.head(self.block(self.embed(input_ids), src_mask=later))
        return SimpleNamespace(logits=logits, loss=torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten()))


def batches(seed):
    """Letters, each of which determines the next."""
    draw = torch.Generator().manual_seed(seed)
    while True:
        text = [torch.randint(32, (16,), generator=draw)]
        for _ in range(12):
            text.append((5 * text[-1] + 3) % 32)
        text = torch.stack(text, dim=1)
        yield {"input_ids": text[:, :-1], "labels": text[:, 1:]}


torch.set_num_threads(1)
torch.manual_seed(0)
model = LanguageModel()
decayed = [p for p in model.parameters() if p.ndim > 1]
others = [p for p in model.parameters() if p.ndim <= 1]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}], lr=3e-3)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))
if arguments.bf16:  # the oneDNN of PyTorch 1.13 has no bf16 on some processors, PyTorch itself has
    without_onednn = torch.backends.mkldnn.flags(enabled=False)
    without_onednn.__enter__()
settings = dict(batch=16 * arguments.accumulate, total_gradients=arguments.steps, resume=arguments.checkpoint)
with dasgd.torch.Peer(model, optimizer=optimizer, **settings) as peer:
    peer.scheduler(schedule)  # follows the steps of all workers
    source, first, before = batches(peer.seed), None, peer.gradients
    while peer.goes_on:
        for _ in range(arguments.accumulate):
            with torch.autocast("cpu", dtype=torch.bfloat16) if arguments.bf16 else contextlib.nullcontext():
                loss = model(**next(source)).loss / arguments.accumulate
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        last = float(loss.detach()) * arguments.accumulate
        first = first or last
        peer.step(last)
    if arguments.checkpoint:
        peer.save(arguments.checkpoint)
if peer.is_first:
    summary = peer.finish()
    print(f"{summary['gradients'] - before} steps of {summary.get('members', summary['workers'])} workers, loss {first:.3f} -> {last:.3f}")
