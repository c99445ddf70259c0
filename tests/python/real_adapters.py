#!/usr/bin/env python3
"""Runs every adapter of dasgd against the package that it is for, on CPUs, alone and with two workers:

    PYTHONPATH=build/release/python python3 tests/python/real_adapters.py [--dasgd build/release/dasgd] [NAME...]

Prints the versions and a line for each adapter: passed, FAILED, or not installed. Status 1 where one failed. Without the program
dasgd, only one worker is tried. The test suite runs it with the small stand-ins of tests/python/stand_ins.
"""

import argparse
import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

STEPS, BATCH, ROWS = 120, 32, 1280


def samples(torch):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(ROWS, 16, generator=generator)
    return x, (x[:, :8].sum(1) > x[:, 8:].sum(1)).long()


def network(torch):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    return torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))


def report(torch, model, summary, first):
    x, y = samples(torch)
    model.eval()
    accuracy = float((model(x).argmax(1) == y).float().mean())
    digest = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()
    print("RESULT " + json.dumps([digest, accuracy, summary["gradients"], summary["lost"], bool(first)]), flush=True)


def huggingface():
    import torch

    import dasgd.huggingface  # before transformers makes its state
    import transformers

    class Classifier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = network(torch)

        def forward(self, inputs=None, labels=None):
            logits = self.layers(inputs)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    x, y = samples(torch)
    rows = [{"inputs": a, "labels": b} for a, b in zip(x, y)]
    with tempfile.TemporaryDirectory() as out:
        arguments = transformers.TrainingArguments(
            output_dir=out, max_steps=STEPS, per_device_train_batch_size=BATCH, learning_rate=5e-3, use_cpu=True, report_to="none",
            save_strategy="no", logging_strategy="no", disable_tqdm=True, eval_strategy="steps", eval_steps=50,
        )
        callback = dasgd.huggingface.Callback()
        model = Classifier()
        trainer = transformers.Trainer(model, arguments, train_dataset=rows, eval_dataset=rows[:64], callbacks=[callback])
        trainer.train()
    rate = trainer.lr_scheduler.get_last_lr()[0]
    assert rate < 0.1 * 5e-3, f"the schedule of all workers has not ended: {rate}"
    report(torch, model.layers, callback.summary, callback.peer.is_first)


def lightning():
    import torch

    import dasgd.lightning

    try:
        import lightning.pytorch as L
    except ImportError:
        import pytorch_lightning as L

    class Module(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = network(torch)

        def training_step(self, batch, number):
            return torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])

        def validation_step(self, batch, number):
            return self.training_step(batch, number)

        def configure_optimizers(self):
            optimizer = torch.optim.AdamW(self.parameters(), lr=5e-3)
            scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=STEPS)
            return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step", "frequency": 1}}

    data = torch.utils.data.TensorDataset(*samples(torch))
    module, strategy = Module(), dasgd.lightning.Strategy()
    trainer = L.Trainer(
        strategy=strategy, accelerator="cpu", devices=1, max_epochs=STEPS * BATCH // ROWS, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
    )
    loader = torch.utils.data.DataLoader
    trainer.fit(module, loader(data, batch_size=BATCH, shuffle=True), loader(data, batch_size=256))
    report(torch, module.layers, strategy.summary, strategy.is_global_zero)


def accelerate():
    """The same loop with the real Accelerator, where it is installed, and with that of dasgd."""
    import torch

    import dasgd.accelerate

    def loop(accelerator):
        model = network(torch)
        optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
        data = torch.utils.data.TensorDataset(*samples(torch))
        loader = torch.utils.data.DataLoader(data, batch_size=BATCH, shuffle=True)
        epochs = STEPS * BATCH // ROWS
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=epochs * len(loader))
        model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
        for _ in range(epochs):
            for x, y in loader:
                with accelerator.accumulate(model):
                    accelerator.backward(torch.nn.functional.cross_entropy(model(x), y))
                    if accelerator.sync_gradients:
                        accelerator.clip_grad_norm_(model.parameters(), 1.0)
                    optimizer.step()
                    scheduler.step()
                    optimizer.zero_grad()
        accelerator.wait_for_everyone()
        return accelerator.unwrap_model(model)

    accelerator = dasgd.accelerate.Accelerator(epochs=STEPS * BATCH // ROWS)
    model = loop(accelerator)
    report(torch, model, accelerator.end_training(), accelerator.is_main_process)
    real = sys.modules.get("accelerate") or (importlib.util.find_spec("accelerate") and importlib.import_module("accelerate"))
    if real and accelerator.num_processes == 1:
        loop(real.Accelerator(cpu=True))


def notebook():
    import torch

    import dasgd
    import dasgd.torch

    def work():
        model = network(torch)
        peer = dasgd.torch.Peer(model, lr=0.1, batch=BATCH)
        for x, y in peer.loader(torch.utils.data.TensorDataset(*samples(torch)), batch_size=BATCH, epochs=3):
            torch.nn.functional.cross_entropy(model(x), y).backward()
            peer.step()
        summary = peer.finish()
        report(torch, model, summary, peer.is_first)
        return summary["gradients"]

    # None: it came when the run was over.
    assert len({made for made in dasgd.notebook_launch(work, 2) if made is not None}) == 1


NEEDS = {"huggingface": ["transformers"], "lightning": ["lightning", "pytorch_lightning"], "accelerate": ["accelerate"], "notebook": []}


def version_of(names):
    for name in names:
        try:
            return f"{name} {importlib.import_module(name).__version__}"
        except ImportError:
            continue
    return None


def begin_together(place):
    """Packages take long to load on a busy machine; the run then takes a second."""
    import torch  # noqa: F401

    import dasgd.torch  # noqa: F401

    open(f"{place}/{os.getpid()}", "w").close()
    until = time.monotonic() + 100
    while len(os.listdir(place)) < 2 and time.monotonic() < until:
        time.sleep(0.01)


def check(name, how):
    """What is wrong, or nothing. On a busy machine the second member may still come when the run is over."""
    for _ in range(8):
        problem = look(name, how)
        if not problem.startswith("status 0, 1 results"):
            break
    return problem


def look(name, how):
    with tempfile.TemporaryDirectory() as place:
        loop = [sys.executable, os.path.abspath(__file__), "--loop", name, *(["--together", place] if how else [])]
        done = subprocess.run([*how, *loop], capture_output=True, text=True, timeout=300)
    found = [json.loads(line) for line in re.findall(r"RESULT (\[[^\]]*\])", done.stdout)]
    workers = 2 if how or name == "notebook" else 1
    if done.returncode != 0 or len(found) != workers:
        return f"status {done.returncode}, {len(found)} results\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    digests, accuracies, gradients, lost, firsts = zip(*found)
    problems = []
    if len(set(digests)) != 1:
        problems.append("models differ")
    if min(accuracies) < 0.9:
        problems.append(f"accuracy {min(accuracies)}")
    # Members of a run that takes a second may hear of each other's last gradients late.
    if not STEPS <= gradients[0] <= (2 * STEPS if workers > 1 else STEPS) or any(lost):
        problems.append(f"{gradients[0]} gradients of {STEPS}, {lost} lost")
    if sum(firsts) != 1:
        problems.append(f"{sum(firsts)} workers take themselves for the first")
    return ", ".join(problems)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--loop", choices=NEEDS)
    arguments.add_argument("--together", metavar="DIR", help="of --loop: begin when two processes have put a file here")
    arguments.add_argument("--dasgd", default=os.environ.get("DASGD"))
    arguments.add_argument("names", nargs="*")
    arguments = arguments.parse_args()
    if arguments.together:
        begin_together(arguments.together)
    if arguments.loop:
        return globals()[arguments.loop]()
    import torch

    import dasgd

    print(f"dasgd {dasgd.__version__}, torch {torch.__version__}, Python {sys.version.split()[0]}", flush=True)
    failed = False
    for name in arguments.names or NEEDS:
        version = version_of(NEEDS[name])
        if NEEDS[name] and version is None and name != "accelerate":
            print(f"{name}: not installed ({' or '.join(NEEDS[name])})", flush=True)
            continue
        ways = {"alone": []}
        if arguments.dasgd and name != "notebook":
            ways["two ranks"] = [arguments.dasgd, "launch", "-n", "2", "--bare", "--"]
            ways["two members"] = [arguments.dasgd, "launch", "-n", "2", "--bare", "--elastic", "--"]
        for way, how in ways.items():
            began = time.monotonic()
            wrong = check(name, how)
            failed = failed or bool(wrong)
            print(f"{name}, {version or 'without its package'}, {way}: {'FAILED: ' + wrong if wrong else 'passed'}, {time.monotonic() - began:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
