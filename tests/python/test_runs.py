"""dasgd from Python: whole runs."""

import doctest
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import numpy
import pytest

import dasgd


def quadratic(tmp_path, **more):
    return dasgd.train(
        **{"model": "quadratic", "workers": 2, "gradients": 50, "lr": 0.005, "out": tmp_path / "run", **more}
    )


def test_a_run_gives_summary_model_metrics_and_directory(tmp_path):
    run = quadratic(tmp_path, trace=True)
    assert run.summary["gradients"] == 100
    assert run.summary["lost"] == 0
    assert run.summary["replicas_identical"] is True
    assert run.model.dtype == numpy.float64
    assert numpy.array_equal(run.model, numpy.load(os.path.join(run.run_dir, "model.npy")))
    assert run.metrics and "seconds" in run.metrics[-1]
    assert dasgd.check(run.run_dir)["ok"] is True
    assert "<iframe" in run._repr_html_()
    assert os.path.exists(dasgd.report(run.run_dir, out=tmp_path / "page"))
    assert dasgd.check(run) == dasgd.check(run.run_dir) and dasgd.report(run) == dasgd.report(run.run_dir)


def test_samples_are_drawn_dealt_and_arrive_as_asked(tmp_path):
    rows = numpy.random.default_rng(1).normal(size=(60, 3))
    data = (rows, (rows[:, 0] > 0).astype(int))
    run = {"model": "logistic", "data": data, "batch": 4, "workers": 2, "lr": 0.1, "gradients": 20}
    for sampling in ("own", "shards", "independent", "dirichlet:0.5"):
        for make in (dasgd.train, dasgd.simulate):
            assert make(**run, sampling=sampling, out=tmp_path / "run").summary["sampling"] == sampling
    arrived = dasgd.simulate(**run, arrivals="poisson:100", out=tmp_path / "run").summary["arrivals"]
    assert arrived["learned"] == 160 and arrived["arrived"] >= 160
    proved = dasgd.simulate(**{**run, "lr": "proved"}, out=tmp_path / "run").summary
    assert proved["sampling"] == "independent" and proved["assumptions"]["list"]
    with pytest.raises(dasgd.InputError, match="independent"):
        dasgd.simulate(**{**run, "lr": "proved"}, sampling="own", out=tmp_path / "run")


def test_keywords_are_keys_options_or_sections(tmp_path):
    by_option = quadratic(tmp_path / "a", topology="ring", workers=3)
    by_section = quadratic(tmp_path / "b", topology={"kind": "ring"}, workers=3)
    for run in (by_option, by_section):
        with open(os.path.join(run.run_dir, "config.toml")) as config:
            assert 'kind = "ring"' in config.read()


def test_lists_are_values_for_each(tmp_path):
    run = quadratic(tmp_path, gradients=[10, 30])
    assert run.summary["gradients_by_worker"] == [10, 30]


def config_of(run):
    with open(os.path.join(run.run_dir, "config.toml")) as config:
        return config.read()


def test_slow_workers_are_a_dictionary(tmp_path):
    for number, slow in enumerate(({"slow": {1: 10}}, {"pace": {"slow": {1: 10.0}}}, {"slow": ["1:10"]}, {"slow": "1:10"})):
        assert 'slow = ["1:10"]' in config_of(quadratic(tmp_path / str(number), gradients=3, **slow))


def test_whole_floats_and_arrays_are_numbers(tmp_path):
    run = quadratic(tmp_path, workers=2.0, gradients=numpy.array([10, 30]), lr=numpy.float64(0.005), seed=numpy.int64(3))
    assert run.summary["gradients_by_worker"] == [10, 30] and run.summary["seed"] == 3


def test_a_time_without_a_unit_is_seconds(tmp_path):
    run = quadratic(tmp_path, gradients=None, max_time=0.25, eval_every=5, compute=numpy.float32(0.001))
    assert run.summary["stop_reason"] == "max-time"
    assert 'max_time = "250ms"' in config_of(run) and 'every = "5s"' in config_of(run)
    one = dasgd.simulate(model="quadratic", workers=2, compute=[0.05, 1], gradients=3, lr=0.001, out=tmp_path / "a")
    two = dasgd.simulate(model="quadratic", workers=2, compute="50ms,1s", gradients=3, lr=0.001, out=tmp_path / "b")
    assert one.summary["replica_digest"] == two.summary["replica_digest"]


def test_virtual_time_repeats_itself(tmp_path):
    def run(name):
        return dasgd.simulate(
            model="quadratic", workers=4, compute="50ms", latency="1ms", gradients=20, lr=0.001, out=tmp_path / name
        )

    a, b = run("a"), run("b")
    assert a.summary["replica_digest"] == b.summary["replica_digest"]
    assert numpy.array_equal(a.model, b.model)


class Parabola:
    """f(x) = |x - 3|^2 / 2"""

    dimension = 4

    def gradient(self, x, rows):
        return float(((x - 3) ** 2).sum() / 2), x - 3


def test_an_objective_in_python(tmp_path):
    run = dasgd.train(objective=Parabola(), workers=2, gradients=200, lr=0.1, out=tmp_path / "run")
    assert numpy.allclose(run.model, 3, atol=1e-6)
    assert 'model = "python"' in (tmp_path / "run" / "config.toml").read_text()
    again = dasgd.train(resume=tmp_path / "run", objective=Parabola(), gradients=250)
    assert again.summary["gradients"] == 500


def test_an_objective_simulated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = dasgd.simulate(objective=Parabola(), workers=2, gradients=50, lr=0.1)
    assert pathlib.Path(run.run_dir).name.startswith("objective-")
    assert 'model = "python"' in (pathlib.Path(run.run_dir) / "config.toml").read_text()
    with pytest.raises(dasgd.InputError, match="of a Python program"):
        dasgd.train(config=pathlib.Path(run.run_dir) / "config.toml")


def test_a_comparison_of_another_objective_is_not_continued(tmp_path):
    class Steep(Parabola):
        def gradient(self, x, rows):
            return float(5 * ((x - 3) ** 2).sum()), 10 * (x - 3)

    settings = {"workers": 2, "rivals": ["dasgd", "minibatch"], "quick": True, "target_loss": 1e-3, "out": tmp_path}
    first = dasgd.compare(objective=Parabola(), **settings)
    again = dasgd.compare(objective=Parabola(), **settings)
    assert first.results == again.results
    with pytest.raises(dasgd.InputError, match="another comparison"):
        dasgd.compare(objective=Steep(), **settings)


def test_what_an_objective_raises_comes_out(tmp_path):
    class Broken(Parabola):
        def gradient(self, x, rows):
            raise RuntimeError("no gradient today")

    with pytest.raises(Exception, match="no gradient today"):
        dasgd.train(objective=Broken(), workers=2, gradients=10, lr=0.1, out=tmp_path / "run")


def test_a_callback_sees_the_run_and_can_end_it(tmp_path):
    seen = []

    def callback(now):
        seen.append(now["gradients"])
        return False

    run = quadratic(tmp_path, gradients=None, max_time="60s", callback=callback, compute="1ms")
    assert run.summary["stop_reason"] == "callback"
    assert seen == sorted(seen)


def test_false_of_numpy_ends_a_run_and_none_does_not(tmp_path):
    answers = iter([None, numpy.float64(0), numpy.True_])
    callback = lambda now: next(answers, numpy.bool_(now["gradients"] < 0))
    run = quadratic(tmp_path, gradients=None, max_time="60s", callback=callback, compute="1ms")
    assert run.summary["stop_reason"] == "callback" and next(answers, None) is None


def test_an_elastic_config_is_refused(tmp_path):
    config = tmp_path / "run.toml"
    config.write_text('model = "quadratic"\n[elastic]\nlisten = "127.0.0.1:0"\n')
    with pytest.raises(dasgd.InputError, match="`elastic.listen` is for elastic runs"):
        dasgd.train(config=config, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_paths_may_be_bytes(tmp_path):
    run = quadratic(tmp_path, out=os.fsencode(tmp_path / "bytes"))
    assert run.run_dir == str(tmp_path / "bytes")
    assert dasgd.train(resume=os.fsencode(run.run_dir), gradients=60).summary["gradients"] == 120


@pytest.mark.parametrize("name, value", [("dimension", -1), ("dimension", 2.5), ("samples", 0), ("samples", "many")])
def test_sizes_of_an_objective_are_whole_numbers(tmp_path, name, value):
    odd = type("Odd", (Parabola,), {name: value})
    with pytest.raises(dasgd.InputError, match=f"^{name} of the objective is {value!r}; it must be a whole number"):
        dasgd.train(objective=odd(), workers=2, gradients=3, lr=0.1, out=tmp_path)


def test_what_a_callback_raises_comes_out(tmp_path):
    def callback(now):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        quadratic(tmp_path, gradients=None, max_time="60s", callback=callback, compute="1ms")


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"learning": 1}, "unknown keyword"),
        ({"nesterov": True}, "choose one of model, data, loss,"),
        ({"budget.max_tim": 1}, 'did you mean "budget.max_time"'),
        ({"workers": 0}, "workers"),
        ({"topology": "rign"}, "ring"),
        ({"lr": "fast"}, "lr"),
        ({"config": "nowhere.toml"}, "nowhere.toml"),
        ({"watch": 8080}, "for the program dasgd"),
        ({"listen": "127.0.0.1:0"}, "`elastic.listen` is for elastic runs, .* use the program .*dasgd train --listen HOST:PORT"),
        ({"elastic": {"listen": "127.0.0.1:0"}}, "`elastic.listen` is for elastic runs"),
        ({"expect": 3}, "`elastic.expected` is for elastic runs"),
        ({"token_file": "token"}, "`elastic.token_file` is for elastic runs"),
        ({"polling": "eager"}, "`ranks.polling` is for MPI ranks, .*mpirun -n N dasgd train"),
        ({"workers_per_rank": 2}, "`ranks.workers_per_rank` is for MPI ranks"),
        ({"out": "a\nb"}, r"^out: 'a\\nb' has a line break"),
        ({"out": b"a\nb"}, "^out: .* has a line break"),
        ({"data": pathlib.Path("a\nb.csv")}, r"^data: 'a\\nb.csv' has a line break"),
        ({"slow": {1: [10]}}, "slow: each value is a number or a text, not a list"),
        ({"slow": {"a": 10}}, "slow = "),
        ({"slow": 7}, "slow = "),
        ({"pace": {1: 10}}, 'unknown keyword "pace.1"'),
        ({"gradients": [[1, 2], [3, 4]]}, "gradients: each value"),
        ({"lr": numpy.zeros((3, 3))}, "lr: each value"),
        ({"workers": 2.5}, "workers"),
        ({"workers": object()}, "workers"),
        ({"max_time": -1}, "max_time"),
        ({"max_time": "5"}, "max_time"),
        ({"engine": "mpi"}, "threads of one process"),
    ],
)
def test_mistakes_are_input_errors(tmp_path, wrong, message):
    with pytest.raises(dasgd.InputError, match=message) as error:
        quadratic(tmp_path, **wrong)
    assert "\n" not in str(error.value)


def test_a_step_that_is_too_large_is_a_divergence(tmp_path):
    with pytest.raises(dasgd.DivergenceError):
        quadratic(tmp_path, lr=1000, gradients=2000)


def test_advice_is_for_the_schedule_that_is_given():
    run = dict(model="logistic", batch=4, workers=1, gradients=200)
    assert dasgd.advise(**run)["practical_schedule"] == "cooldown"
    assert dasgd.advise(**run, schedule="constant")["practical_schedule"] == "constant"


def test_advice(tmp_path):
    advice = dasgd.advise(model="quadratic", workers=2)
    assert advice["recommended_eta"] > 0
    assert {limit["name"] for limit in advice["limits"]}


def test_ctrl_c_ends_a_run_cleanly(tmp_path):
    program = textwrap.dedent(
        f"""
        import dasgd, sys
        def callback(now):
            print("goes", flush=True)
        try:
            dasgd.train(model="quadratic", workers=2, max_time="10min", compute="1ms", lr=1e-5,
                        out={str(tmp_path / "run")!r}, callback=callback)
        except KeyboardInterrupt:
            print("stopped", flush=True)
        """
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "goes\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert rest.splitlines()[-1] == "stopped"
    assert process.returncode == 0
    assert (tmp_path / "run" / "summary.json").exists()


def test_a_fork_after_import_and_after_a_run_trains(tmp_path):
    quadratic(tmp_path / "before")
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if quadratic(tmp_path / "child").summary["gradients"] == 100 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert quadratic(tmp_path / "after").summary["gradients"] == 100


def test_progress_is_one_line_where_somebody_looks(tmp_path, capsys, monkeypatch):
    quadratic(tmp_path / "nobody")
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "ipykernel", None)  # as in a notebook
    quadratic(tmp_path / "notebook", gradients=100_000, compute="1ms", callback=lambda now: now["gradients"] == 0)
    shown = capsys.readouterr().err
    assert "\n" not in shown and "% " in shown and "gradients" in shown
    assert shown.endswith("\r"), "the line is gone when the run is over"


def test_a_run_goes_on_from_its_checkpoint(tmp_path):
    def stop(now):
        return now["gradients"] < 20

    first = quadratic(tmp_path, gradients=3000, compute="1ms", callback=stop)
    assert first.summary["stop_reason"] == "callback"
    second = dasgd.train(resume=first.run_dir)
    assert second.run_dir == first.run_dir
    assert second.summary["gradients"] == 6000 and second.summary["lost"] == 0
    with pytest.raises(dasgd.InputError, match="own directory"):
        dasgd.train(resume=first.run_dir, out=tmp_path / "other")


def test_a_comparison_is_tidy_and_goes_on(tmp_path):
    asked = {"model": "quadratic", "workers": 4, "rivals": ["dasgd", "minibatch"], "quick": True, "seeds": 2,
             "world": ["equal", "straggler:10"], "out": tmp_path / "compare", "progress": True}
    found = dasgd.compare(**asked)
    assert {(run["rival"], run["world"]) for run in found.runs} == {
        (rival, world) for rival in ("dasgd", "minibatch") for world in ("equal", "straggler:10")
    }
    assert len(found.runs) == 8
    assert all(isinstance(run["reached"], (bool, int)) and isinstance(run["time_s"], float) for run in found.runs)
    assert found.curves and set(found.curves[0]) >= {"rival", "world", "seed", "time_s", "loss_mean"}
    assert "<iframe" in found._repr_html_()
    assert dasgd.compare(**asked).results == found.results
    with pytest.raises(dasgd.InputError, match="dasgd"):
        dasgd.compare(model="quadratic", rivals=["dasdg"], out=tmp_path / "other")


def test_on_ranks_training_is_refused_in_one_line(tmp_path):
    program = f"import dasgd; dasgd.train(model='quadratic', gradients=10, lr=0.001, out={str(tmp_path / 'run')!r})"
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", sys.executable, "-c", program],
                          env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "InputError: train runs on threads of one process, and mpirun (Open MPI) has started 2" in done.stderr
    assert not (tmp_path / "run").exists()


def test_every_process_may_train_for_itself(tmp_path):
    program = (
        "import dasgd, os; rank = os.environ['OMPI_COMM_WORLD_RANK'];"
        f"dasgd.train(model='quadratic', gradients=10, lr=0.001, engine='threads', out={str(tmp_path)!r} + '/' + rank)"
    )
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", sys.executable, "-c", program],
                          env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "0" / "summary.json").exists() and (tmp_path / "1" / "summary.json").exists()


def test_the_examples_of_the_docstrings(tmp_path):
    places = iter(range(100))

    class Fresh:  # a new directory each time it is used
        def __fspath__(self):
            return str(tmp_path / str(next(places)))

        __str__ = __fspath__

    assert doctest.testmod(dasgd, extraglobs={"directory": Fresh(), "dasgd": dasgd}).failed == 0


def test_paths_that_are_no_text_are_refused_in_one_line(tmp_path):
    path = str(tmp_path / "a") + "\udcff"  # what os.listdir says about a byte that is not UTF-8
    calls = [
        lambda: quadratic(tmp_path, out=path),
        lambda: dasgd.simulate(model="quadratic", out=path),
        lambda: dasgd.train(config=path),
        lambda: dasgd.train(**{"mod\udcff": 1}),
        lambda: dasgd.check(path),
        lambda: dasgd.predict(path, "x"),
        lambda: dasgd.predict(tmp_path, path),
        lambda: dasgd.report(path),
        lambda: dasgd.report(tmp_path, out=path),
    ]
    for call in calls:
        with pytest.raises(dasgd.InputError, match=r"\\udcff' is not UTF-8 text") as refused:
            call()
        assert "\n" not in str(refused.value)
    assert not os.listdir(tmp_path)
