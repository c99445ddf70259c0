"""Arrays of numpy as data."""

import os
import resource
import subprocess
import sys
import textwrap

import numpy
import pytest

import dasgd

measures_memory = pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="AddressSanitizer takes memory of its own")


def rows(count=400, seed=1, dtype=numpy.float32):
    draw = numpy.random.default_rng(seed)
    x = draw.normal(size=(count, 6)) * 3 + 10
    return x.astype(dtype), (x[:, 0] + x[:, 1] > 20).astype(int)


def train(tmp_path, data, model="logistic", **more):
    settings = {"workers": 2, "gradients": 200, "lr": 0.3, "batch": 32, "out": tmp_path / "run", "seed": 3}
    return dasgd.train(model=model, data=data, **{**settings, **more})


@pytest.mark.parametrize("model", ["logistic", "softmax"])
def test_arrays_train_as_files_with_the_same_numbers_do(tmp_path, model):
    x, y = rows()
    numpy.save(tmp_path / "x.npy", x)
    numpy.save(tmp_path / "y.npy", y)
    one_worker = {"workers": 1, "model": model}
    by_array = train(tmp_path / "a", (x, y), **one_worker)
    by_file = train(tmp_path / "b", f"{tmp_path}/x.npy,{tmp_path}/y.npy", **one_worker)
    assert numpy.array_equal(by_array.model, by_file.model)
    assert by_array.summary["accuracy"] > 0.9


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.astype(numpy.float64),
        lambda x: x.astype(numpy.float16).astype(numpy.float32),
        lambda x: numpy.asfortranarray(x),
        lambda x: numpy.repeat(x, 2, axis=0)[::2],
        lambda x: x.astype(">f4"),
        lambda x: x.tolist(),
    ],
)
def test_other_types_and_orders_of_the_same_numbers(tmp_path, change):
    x, y = rows()
    x = x.astype(numpy.float16).astype(numpy.float32)
    a = train(tmp_path / "a", (x, y), workers=1)
    b = train(tmp_path / "b", (change(x), y.tolist()), workers=1)
    assert numpy.array_equal(a.model, b.model)


def test_labels_may_be_texts_and_predictions_are_those(tmp_path):
    x, y = rows()
    names = numpy.where(y > 0, "yes", "no")
    for labels in (names, names.astype(object)):
        run = train(tmp_path / labels.dtype.kind, (x, labels), model="softmax")
        found = dasgd.predict(run, x)
        assert found.classes == ["no", "yes"]
        assert (found.answers == names).mean() > 0.9
        assert found.probabilities.shape == (len(x), 2)
        assert numpy.allclose(found.probabilities.sum(axis=1), 1)


@pytest.mark.parametrize("labels", [int, numpy.int8, numpy.uint64, bool])
@pytest.mark.parametrize("model", ["softmax", "logistic"])
def test_answers_are_whole_numbers_where_labels_were(tmp_path, model, labels):
    x, y = rows()
    y = y.astype(labels)
    run = train(tmp_path, (x, y), model=model)
    for name in (run, run.run_dir):
        found = dasgd.predict(name, x)
        assert found.answers.dtype == y.dtype and numpy.mean(found.answers == y) > 0.9
        assert found.classes == ["0", "1"]


def test_answers_are_texts_where_labels_were_texts_of_digits(tmp_path):
    x, y = rows()
    run = train(tmp_path, (x, y.astype(str)))
    assert numpy.mean(dasgd.predict(run, x).answers == y.astype(str)) > 0.9


def test_negative_labels_are_answers(tmp_path):
    x, y = rows()
    run = train(tmp_path, (x, 2 * y - 1))
    assert set(dasgd.predict(run, x).answers) == {-1, 1}


def test_one_table_has_a_column_for_the_label(tmp_path):
    x, y = rows()
    table = numpy.column_stack([y, x]).astype(numpy.float32)
    run = train(tmp_path, table, label=1)
    assert run.summary["accuracy"] > 0.9


def test_parts_may_be_arrays_as_well(tmp_path):
    x, y = rows()
    run = train(tmp_path, (x[:200], y[:200]), validation=(x[200:300], y[200:300]), test=(x[300:], y[300:]))
    sizes = {name: part["samples"] for name, part in run.summary["parts"].items()}
    assert sizes == {"train": 200, "validation": 100, "test": 100}


def test_a_run_of_arrays_wants_them_again(tmp_path):
    data, held_out = rows(), rows(50, 2)
    run = train(tmp_path, data, validation=held_out)
    config = os.path.join(run.run_dir, "config.toml")
    for again in (
        lambda: dasgd.train(resume=run.run_dir, gradients=300),
        lambda: dasgd.train(config=config, out=tmp_path / "other"),
        lambda: dasgd.simulate(config=config, out=tmp_path / "other"),
    ):
        with pytest.raises(dasgd.InputError, match=r"only its Python program had: give them again there, data=\(X, y\)$"):
            again()
    with pytest.raises(dasgd.InputError, match=r"validation=\(X, y\)$"):
        dasgd.train(config=config, data=data, out=tmp_path / "other")
    more = dasgd.train(resume=run.run_dir, data=data, validation=held_out, gradients=300)
    assert more.summary["gradients"] == 600
    for arguments in (["--resume", run.run_dir, "--gradients", "400"], [config, "--out", str(tmp_path / "other")]):
        done = subprocess.run([os.environ["DASGD"], "train", *arguments], capture_output=True, text=True)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
        assert "data=(X, y)" in done.stderr


def test_images(tmp_path):
    draw = numpy.random.default_rng(0)
    y = draw.integers(0, 3, 300)
    images = draw.integers(0, 60, (300, 8, 8)).astype(numpy.uint8)
    for k in range(3):
        images[y == k, :, 2 * k : 2 * k + 2] += 150
    run = train(tmp_path, (images, y), model="softmax", lr=0.1)
    assert run.summary["accuracy"] > 0.95


def test_seeds_of_simulations_and_advice(tmp_path):
    x, y = rows()
    found = [
        dasgd.simulate(model="logistic", data=(x, y), workers=4, gradients=50, lr=0.1, seed=seed, out=tmp_path / str(seed))
        for seed in (1, 2, 1)
    ]
    digests = [run.summary["replica_digest"] for run in found[:2]]
    assert digests[0] != digests[1]
    assert dasgd.advise(model="logistic", data=(x, y), workers=2)["recommended_eta"] > 0


@pytest.mark.parametrize(
    "data, message",
    [
        ((numpy.ones((30, 2)), numpy.ones(29)), "data y: has 29 labels for 30 samples"),
        ((numpy.full((30, 2), numpy.nan), numpy.arange(30) % 2), "data X: row .* is missing"),
        ((numpy.full((30, 2), 1e300), numpy.arange(30) % 2), "data X: row .* is infinite, or beyond 3.4e38"),
        ((numpy.ones((30, 2)), numpy.full(30, numpy.nan)), "data X: row 1 has no label"),
        ((numpy.array([[object()]] * 30), numpy.arange(30)), "data X has dtype object and holds object"),
        ((numpy.ones((30, 2)).astype(object), numpy.arange(30)), r"data X has dtype object and holds float; give X.astype\(float\)$"),
        ((numpy.ones((30, 2)), numpy.array([1, "a", 2.5] * 10, object)), "data y has dtype object and holds int; give numbers or texts of one kind$"),
        ((numpy.ones((30, 2), complex), numpy.arange(30)), "dtype complex128"),
        ((numpy.ones((0, 2)), numpy.ones(0)), "empty"),
        ((numpy.ones((1, 1, 1, 1, 30)), numpy.ones(1)), r"shape \(1, 1, 1, 1, 30\)"),
        ((numpy.array([["a", "b"]] * 30), numpy.arange(30)), "dtype <U1"),
        (([[1, 2], [3]], [0, 1]), "data X"),
        ((numpy.ones((30, 2)), numpy.ones(30), 3), r"give \(X, y\)"),
        (numpy.ones(30), "has no labels"),
        ((numpy.ones((30, 2)), numpy.linspace(0, 1, 30)), "not a class"),
        ((numpy.ones((30, 2)), numpy.arange(30) % 3), "3 classes"),
    ],
)
def test_data_that_cannot_be_is_refused_in_words(tmp_path, data, message):
    with pytest.raises(dasgd.InputError, match=message):
        train(tmp_path, data)
    assert not (tmp_path / "run" / "summary.json").exists()


def test_masked_values_are_refused(tmp_path):
    x, y = rows()
    x = numpy.ma.masked_array(x, mask=numpy.zeros_like(x, bool))
    run = train(tmp_path, (x, y))
    x[3, 0] = numpy.ma.masked
    for masked, where in (((x, y), "X"), ((x.data, numpy.ma.masked_equal(y, 1)), "y")):
        with pytest.raises(dasgd.InputError, match=rf"data {where} has masked values.*{where}\.filled"):
            train(tmp_path / "masked", masked)
    with pytest.raises(dasgd.InputError, match="masked"):
        dasgd.predict(run, x)


def test_predictions_are_of_a_list_of_rows_as_of_an_array(tmp_path):
    x, y = rows()
    run = train(tmp_path, (x.tolist(), y.tolist()))
    for asked in (x, x[:2], x[:1]):
        assert numpy.array_equal(dasgd.predict(run, asked.tolist()).answers, dasgd.predict(run, asked).answers)
    assert numpy.array_equal(dasgd.predict(run, [x, y]).answers, dasgd.predict(run, x).answers)


def test_models_without_rows_take_no_arrays(tmp_path):
    with pytest.raises(dasgd.InputError, match="quadratic takes no arrays"):
        train(tmp_path, rows(), model="quadratic")


@measures_memory
def test_arrays_are_not_copied(tmp_path):
    """256 MiB of numbers; the run takes less than a quarter of that in addition."""
    program = textwrap.dedent(
        f"""
        import numpy, resource, dasgd
        x = numpy.ones((1 << 18, 256), numpy.float32)
        x[:, 0] = numpy.arange(len(x)) % 2
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        dasgd.train(model="softmax", data=(x, x[:, 0]), gradients=20, workers=2, lr=0.01, eval_every="0s", out={str(tmp_path / "run")!r}, no_report=True)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used)
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 64 * 1024, "KiB"


@measures_memory
def test_a_file_may_be_larger_than_the_memory_that_a_run_may_have(tmp_path):
    """256 MiB of mostly nothing, mapped, by a program that may have 128 MiB of its own."""
    count = (1 << 28) // 784
    with open(tmp_path / "x.npy", "wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": (count, 784)}
        numpy.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + count * 784)
    numpy.save(tmp_path / "y.npy", (numpy.arange(count) % 10).astype("i1"))
    most = 128 << 20
    done = subprocess.run(
        [os.environ["DASGD"], "train", "--model", "softmax", "--data", f"{tmp_path}/x.npy,{tmp_path}/y.npy", "--workers", "2",
         "--epochs", "1", "--batch", "4096", "--validation", "0.001", "--lr", "0.01", "--no-report", "--quiet",
         "--out", str(tmp_path / "run")],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (most, most)),
        capture_output=True, text=True, timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "summary.json").exists()
