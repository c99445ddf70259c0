import math
import types

import torch

__version__ = "stand-in"


class LightningModule(torch.nn.Module):
    trainer = None


class Trainer:
    def __init__(self, *, strategy, accelerator, devices, max_epochs, logger=None, enable_checkpointing=None, enable_progress_bar=None,
                 enable_model_summary=None, num_sanity_val_steps=0):
        self.strategy, self.max_epochs, self.should_stop = strategy, max_epochs, False
        self.state = types.SimpleNamespace(fn=None)

    @property
    def estimated_stepping_batches(self):
        return self.max_epochs * len(self.loader) if self.max_epochs > 0 else math.inf

    def fit(self, model, train_dataloaders, val_dataloaders=None):
        model.trainer = self
        self.loader = train_dataloaders
        self.state.fn = "fit"
        self.strategy.connect(model)
        self.strategy.setup(self)
        [optimizer] = self.strategy.optimizers
        try:
            for _ in range(self.max_epochs):
                for number, batch in enumerate(train_dataloaders):
                    def closure():
                        loss = model.training_step(batch, number)
                        optimizer.zero_grad()
                        loss.backward()
                        return loss
                    self.strategy.optimizer_step(optimizer, closure, model)
                    for config in self.strategy.lr_scheduler_configs:
                        if config.interval == "step":
                            config.scheduler.step()
                    if self.should_stop:
                        break
                with torch.no_grad():
                    for number, batch in enumerate(val_dataloaders or []):
                        self.strategy.validation_step(batch, number)
                if self.should_stop:
                    break
            self.strategy.on_train_end()
            self.strategy.lightning_module_state_dict()
        finally:
            self.strategy.teardown()
