"""A stand-in for Hugging Face transformers: the Trainer calls what that of version 4.5x calls, in the same order and with the
same arguments, and nothing else. tests/python/real_adapters.py runs the same loops with the real package."""

import dataclasses
import types

import torch

__version__ = "stand-in"


class TrainerCallback:
    pass


@dataclasses.dataclass
class TrainingArguments:
    output_dir: str = "out"
    max_steps: int = -1
    num_train_epochs: float = 3.0
    per_device_train_batch_size: int = 8
    gradient_accumulation_steps: int = 1
    learning_rate: float = 5e-5
    max_grad_norm: float = 1.0
    lr_scheduler_type: str = "linear"
    eval_strategy: str = "no"
    eval_steps: int = 0
    save_strategy: str = "no"
    report_to: str = "none"
    disable_tqdm: bool = True
    logging_strategy: str = "no"
    seed: int = 42
    use_cpu: bool = True
    fp16: bool = False
    load_best_model_at_end: bool = False


class AcceleratedOptimizer:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def step(self, closure=None):
        self.optimizer.step(closure)

    def zero_grad(self, set_to_none=None):
        self.optimizer.zero_grad()


class Trainer:
    def __init__(self, model=None, args=None, data_collator=None, train_dataset=None, eval_dataset=None, callbacks=None):
        torch.manual_seed(args.seed)
        self.model, self.args, self.train_dataset, self.eval_dataset = model, args, train_dataset, eval_dataset
        self.callbacks = list(callbacks or [])

    def _call(self, event):
        for callback in self.callbacks:
            result = getattr(callback, event, lambda *a, **k: None)(
                self.args, self.state, self.control, model=self.model, processing_class=None, optimizer=self.optimizer,
                lr_scheduler=self.lr_scheduler, train_dataloader=self.loader, eval_dataloader=None,
            )
            self.control = self.control if result is None else result

    def train(self):
        args = self.args
        self.loader = torch.utils.data.DataLoader(
            self.train_dataset, args.per_device_train_batch_size, shuffle=True, generator=torch.Generator().manual_seed(args.seed),
            collate_fn=lambda rows: {k: torch.stack([torch.as_tensor(r[k]) for r in rows]) for k in rows[0]},
        )
        per_epoch = len(self.loader) // args.gradient_accumulation_steps
        most = args.max_steps if args.max_steps > 0 else int(args.num_train_epochs * per_epoch)
        inner = torch.optim.AdamW(self.model.parameters(), lr=args.learning_rate)
        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(inner, lambda k: max(0.0, (most - k) / most))
        self.optimizer = AcceleratedOptimizer(inner)
        self.state = types.SimpleNamespace(max_steps=most, global_step=0)
        self.control = types.SimpleNamespace(should_training_stop=False, should_evaluate=False, should_save=False)
        self._call("on_train_begin")
        while self.state.global_step < most and not self.control.should_training_stop:
            for number, batch in enumerate(self.loader):
                if number % args.gradient_accumulation_steps == 0:
                    self._call("on_step_begin")
                self.model.train()
                (self.model(**batch)["loss"] / args.gradient_accumulation_steps).backward()
                if (number + 1) % args.gradient_accumulation_steps:
                    continue
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), args.max_grad_norm)
                self._call("on_pre_optimizer_step")
                self.optimizer.step()
                self._call("on_optimizer_step")
                self.lr_scheduler.step()
                self.model.zero_grad()
                self.state.global_step += 1
                self.control.should_evaluate = args.eval_strategy == "steps" and self.state.global_step % args.eval_steps == 0
                self._call("on_step_end")
                if self.control.should_evaluate:
                    self.model.eval()
                    with torch.no_grad():
                        self.model(**{k: torch.stack([torch.as_tensor(r[k]) for r in self.eval_dataset]) for k in self.eval_dataset[0]})
                    self._call("on_evaluate")
                    self.control.should_evaluate = False
                if self.state.global_step >= most or self.control.should_training_stop:
                    break
        self._call("on_train_end")
