import types


class PrecisionPlugin:
    def optimizer_step(self, optimizer, model, closure, **kwargs):
        return optimizer.step(closure=closure, **kwargs)


class SingleDeviceStrategy:
    def __init__(self, device="cpu", accelerator=None, checkpoint_io=None, precision_plugin=None):
        self._root_device = device
        self.precision_plugin = precision_plugin or PrecisionPlugin()
        self.optimizers, self.lr_scheduler_configs = [], []

    def connect(self, model):
        self._lightning_module = self.model = model

    @property
    def lightning_module(self):
        return self._lightning_module

    def setup(self, trainer):
        found = self.lightning_module.configure_optimizers()
        self.optimizers = [found["optimizer"]]
        if "lr_scheduler" in found:
            self.lr_scheduler_configs = [types.SimpleNamespace(**found["lr_scheduler"])]

    def optimizer_step(self, optimizer, closure, model=None, **kwargs):
        return self.precision_plugin.optimizer_step(optimizer, model=model or self.lightning_module, closure=closure, **kwargs)

    def validation_step(self, *args, **kwargs):
        return self.lightning_module.validation_step(*args, **kwargs)

    def lightning_module_state_dict(self):
        return self.lightning_module.state_dict()

    @property
    def is_global_zero(self):
        return True

    def on_train_end(self):
        pass

    def teardown(self):
        pass
