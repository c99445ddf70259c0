"""Rivals that are written in Python, in `dasgd.compare`."""

import json
import os
import subprocess
import sys

import numpy
import pytest

import dasgd


class Asgd(dasgd.Rival):
    """Asynchronous SGD with a server, once more."""

    name = "my-asgd"
    exchanges = "gradients to a server, models back"
    servers = 1
    linear = True

    def computed(self, port, gradient, loss):
        port.send(self.setup.workers, gradient)

    def received(self, port, letter):
        if self.worker < self.setup.workers:
            self.x = letter.numbers
            port.compute(self.x)
            return
        port.updating(self.x, letter.numbers)
        self.x -= self.setup.eta * letter.numbers
        port.charge(1)
        port.send(letter.sender, self.x)

    @property
    def model(self):
        return self.x if self.worker == self.setup.workers else None


class Token(dasgd.Rival):
    parameters = {"every": 2}
    tuned = "every"

    def __init__(self, worker, setup):
        super().__init__(worker, setup)
        self.sum = numpy.zeros_like(self.x)
        self.has_token = worker == 0
        self.count = 0

    def computed(self, port, gradient, loss):
        assert isinstance(self.setup.numbers["every"], int) and 0 <= port.random() < 1 <= port.now() + 1
        self.sum += gradient
        self.count += 1
        if self.has_token and self.count >= self.setup.numbers["every"]:
            self.x = self.x - self.setup.eta * self.sum
            self.sum[:] = 0
            self.count = 0
            self.has_token = False
            port.send((self.worker + 1) % self.setup.workers, self.x, weight=0.5)
        port.compute(self.x)

    def received(self, port, letter):
        assert letter.weight == 0.5 and letter.sender == (self.worker - 1) % self.setup.workers
        self.x = letter.numbers.copy()
        self.has_token = True


def compared(out, rivals, **more):
    return dasgd.compare(**{"model": "quadratic", "workers": 4, "rivals": rivals, "quick": True, "seeds": 2,
                            "out": out, **more})


def rows_of(found):
    return {row["rival"]: row for row in found.results["rows"]}


def test_a_class_is_tuned_and_judged_as_the_same_algorithm_of_ours(tmp_path):
    found = compared(tmp_path / "cmp", ["dasgd", "asgd", Asgd])
    rows = rows_of(found)
    assert set(rows) == {"dasgd", "asgd", "my-asgd"}
    ours, own = rows["asgd"], rows["my-asgd"]
    assert own["eta"] == ours["eta"] and own["tuning_runs"] == ours["tuning_runs"] > 3
    assert own["median"] == ours["median"] and own["verdict"] == ours["verdict"]
    assert own["S_avg"] == pytest.approx(ours["S_avg"])
    losses = {rival: [run["loss_mean"] for run in found.runs if run["rival"] == rival] for rival in rows}
    assert losses["my-asgd"] == pytest.approx(losses["asgd"], rel=1e-6)
    with open(os.path.join(found.run_dir, "compare.html"), encoding="utf-8") as page:
        assert "my-asgd" in page.read()


def test_a_class_has_parameters_one_of_which_is_tuned(tmp_path):
    found = compared(tmp_path / "cmp", ["minibatch", Token, "token:every=5"], quick=False, seeds=1, tune=5)
    assert set(rows_of(found)) == {"minibatch", "token", "token:every=5"}
    assert rows_of(found)["token"]["tuning_runs"] >= rows_of(found)["token:every=5"]["tuning_runs"]
    with pytest.raises(dasgd.InputError, match="has no parameter"):
        compared(tmp_path / "other", [Token, "token:often=5"])


def test_floats_of_softmax_and_a_graph(tmp_path):
    generator = numpy.random.default_rng(1)
    x = generator.normal(size=(200, 5)).astype("float32")
    y = (x[:, 0] > 0).astype(int)

    class Lonely(dasgd.Rival):
        def computed(self, port, gradient, loss):
            assert gradient.dtype == numpy.float32 == self.x.dtype
            assert self.setup.neighbours[self.worker] == sorted({(self.worker + 1) % 3, (self.worker - 1) % 3})
            self.x = self.x - self.setup.eta * self.setup.workers * gradient
            port.compute(self.x)

    found = compared(tmp_path / "cmp", ["dasgd", Lonely], model="softmax", data=(x, y), workers=3, topology="ring")
    assert rows_of(found)["lonely"]["verdict"]


def test_a_class_runs_on_threads(tmp_path):
    found = compared(tmp_path / "cmp", ["minibatch", Asgd], engine="threads", compute="1ms", lr=0.02, seeds=1,
                     target_loss=50)
    assert set(rows_of(found)) == {"minibatch", "my-asgd"}
    with pytest.raises(dasgd.InputError, match="mpirun"):
        compared(tmp_path / "other", ["minibatch", Asgd], engine="mpi")


PROGRAM = """
import sys
import dasgd

class Alone(dasgd.Rival):
    def computed(self, port, gradient, loss):
        self.x = self.x - {weight} * self.setup.eta * gradient
        port.compute(self.x)

dasgd.compare(model="quadratic", workers=2, rivals=["minibatch", Alone], quick=True, lr=0.01, out=sys.argv[1])
"""


def test_an_edited_class_is_run_again_and_one_that_is_the_same_goes_on(tmp_path):
    script, out = tmp_path / "mine.py", tmp_path / "cmp"

    def runs(weight):
        script.write_text(PROGRAM.format(weight=weight))
        subprocess.run([sys.executable, str(script), str(out)], check=True)
        names = [json.loads(line).get("name", "") for line in (out / "journal.jsonl").read_text().splitlines()]
        return [sum(name.startswith(rival + "|") for name in names) for rival in ("minibatch", "alone")]

    assert runs(1) == runs(1) == [3, 3]
    assert runs(2) == [3, 6]


def raises(error):
    class Bad(dasgd.Rival):
        def computed(self, port, gradient, loss):
            error(self, port, gradient)

    return Bad


@pytest.mark.parametrize("error, kind, match", [
    (lambda self, port, gradient: 1 / 0, ZeroDivisionError, "division"),
    (lambda self, port, gradient: port.send(9, gradient), dasgd.InputError, "participant 9"),
    (lambda self, port, gradient: port.send(self.worker, gradient), dasgd.InputError, "sends to"),
    (lambda self, port, gradient: port.send(-1, gradient), dasgd.InputError, "^send: to = -1 is not a whole number"),
    (lambda self, port, gradient: port.send(0, gradient, tag=0.5), dasgd.InputError, "^send: tag = 0.5"),
    (lambda self, port, gradient: port.discard(-2), dasgd.InputError, "^discard: gradients = -2"),
    (lambda self, port, gradient: port.compute(gradient[:3]), dasgd.InputError, "3 numbers instead of"),
    (lambda self, port, gradient: port.charge(-1), dasgd.InputError, "at least 0"),
    (lambda self, port, gradient: setattr(self, "x", gradient[:2]), dasgd.InputError, "2 numbers; its start has"),
    (lambda self, port, gradient: None, RuntimeError, "deadlock"),
])
def test_what_a_class_does_wrong_is_an_exception(tmp_path, error, kind, match):
    with pytest.raises(kind, match=match):
        compared(tmp_path / "cmp", ["minibatch", raises(error)], threads=2)


def test_what_is_no_rival_is_refused(tmp_path):
    class Silent(dasgd.Rival):
        pass

    class Odd(Token):
        parameters = {"every": "often"}

    class Unknown(Token):
        tuned = "never"

    class Named(Token):
        name = "a,b"

    class Minibatch(Token):
        pass

    for bad, match in ((Silent, "no method computed"), (Odd, "is not a number"), (Unknown, "not one of its parameters"),
                       (Named, "cannot be the name"), (Minibatch, "there is a rival minibatch already"),
                       (3, "derived from dasgd.Rival"), (dict, "derived from dasgd.Rival")):
        with pytest.raises(dasgd.InputError, match=match):
            compared(tmp_path / "cmp", ["dasgd", bad])
    assert not (tmp_path / "cmp").exists()
