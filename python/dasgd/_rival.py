"""Algorithms of the user's that `dasgd.compare` holds against DASGD."""

from __future__ import annotations

import hashlib
import inspect
import numbers as number_kinds
import uuid
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Type, Union

import numpy

from ._core import InputError, RivalPort


class RivalSetup(NamedTuple):
    """What participants are made from."""

    workers: int
    eta: float  # the weight of one gradient in the mean model
    start: numpy.ndarray
    numbers: Dict[str, Union[int, float]]  # the parameters of the rival, every one of them set
    neighbours: List[List[int]]  # of each worker: to whom it sends in this world


class Letter(NamedTuple):
    """What travels between participants; `version`, `tag` and `weight` mean what the rival wants."""

    numbers: Optional[numpy.ndarray]
    version: int
    tag: int
    weight: float
    sender: int


class Port:
    """What a participant can do, while one of its methods runs."""

    def __init__(self, port: RivalPort, dtype: "numpy.dtype[Any]") -> None:
        self._port = port
        self._dtype = dtype

    def compute(self, point: Any) -> None:
        """Asks for a gradient at `point` as it is now; `computed` is called when it is ready. One at a time."""
        self._port.compute(_numbers(point, self._dtype))

    def cancel(self) -> None:
        """The gradient that is under way is not wanted: `computed` will not be called for it."""
        self._port.cancel()

    def send(self, to: int, numbers: Any = None, *, version: int = 0, tag: int = 0, weight: float = 0.0) -> None:
        """To a participant, counted from 0: workers first, then servers. Links keep the order."""
        for name, value in (("to", to), ("version", version), ("tag", tag)):
            _require_count(f"send: {name}", value)
        self._port.send(to, None if numbers is None else _numbers(numbers, self._dtype), version, tag, weight)

    def charge(self, passes: float) -> None:
        """Advances this participant's clock by the time of this many passes over a vector of the model's size."""
        self._port.charge(passes)

    def discard(self, gradients: int) -> None:
        """Gradients that have arrived and are thrown away."""
        _require_count("discard: gradients", gradients)
        self._port.discard(gradients)

    def updating(self, model: Any, gradients: Any) -> None:
        """Measures staleness: call it just before a multiple of `gradients`, one or a sum, is subtracted."""
        self._port.updating(_numbers(model, self._dtype), _numbers(gradients, self._dtype))

    def now(self) -> float:
        """Seconds since the run began."""
        return self._port.now()

    def random(self) -> float:
        """Uniform in [0, 1), from a stream of this participant's own: same seed, same numbers."""
        return self._port.random()


class Rival:
    """One participant of an algorithm: derive from this, and give the class to ``dasgd.compare(rivals=[...])``.

    Nothing in it can wait: a barrier is a participant that does not ask for its next gradient yet. `worker` counts
    from 0; participants from `setup.workers` on are servers, which compute nothing. Gradients and numbers that arrive
    are arrays of the problem's type; every vector has the size of `setup.start`, which may be longer than the model.
    """

    name: str = ""  # of the row; else the class's name in small letters
    summary: str = ""
    exchanges: str = ""
    servers: int = 0
    parameters: Dict[str, Union[int, float]] = {}  # with their defaults; "token:every=4" sets one
    tuned: str = ""  # the parameter that is tuned together with the step size
    linear: bool = False  # every model is start - eta * a sum of gradients, reported by port.updating: S is measured

    def __init__(self, worker: int, setup: RivalSetup) -> None:
        self.worker = worker
        self.setup = setup
        self.x = setup.start.copy()

    def start(self, port: Port) -> None:
        if self.worker < self.setup.workers:
            port.compute(self.x)

    def computed(self, port: Port, gradient: numpy.ndarray, loss: float) -> None:
        """A gradient that was asked for is ready."""

    def received(self, port: Port, letter: Letter) -> None:
        """A letter has arrived."""

    @property
    def model(self) -> Optional[numpy.ndarray]:
        """The model that is evaluated against the goal; None: this participant has none."""
        return self.x


class Kind:
    """A class of rivals as C++ asks for it."""

    def __init__(self, rival: Type[Rival]) -> None:
        self._rival = rival
        self.name = rival.name or rival.__name__.lower()
        self.summary = rival.summary or (inspect.getdoc(rival) or "").partition("\n")[0]
        self.exchanges = rival.exchanges
        self.servers = _counted(rival, "servers")
        self.linear = bool(rival.linear)
        self.tuned = rival.tuned
        self.parameters = dict(rival.parameters)
        self.edition = _edition(rival)
        if rival.computed is Rival.computed:
            raise InputError(f"{rival.__name__} has no method computed(self, port, gradient, loss)")
        for name, usual in self.parameters.items():
            if isinstance(usual, bool) or not isinstance(usual, (int, float)):
                raise InputError(f"{rival.__name__}: the parameter {name} = {usual!r} is not a number")
        if self.tuned and self.tuned not in self.parameters:
            raise InputError(f"{rival.__name__}: tuned = {self.tuned!r} is not one of its parameters")

    def make(self, worker: int, workers: int, eta: float, start: Any, numbers: Dict[str, float],
             neighbours: List[List[int]], port: RivalPort) -> "_Participant":
        given = {name: type(self.parameters[name])(number) for name, number in numbers.items()}
        setup = RivalSetup(workers, eta, numpy.asarray(start), given, neighbours)
        return _Participant(self._rival(worker, setup), Port(port, setup.start.dtype), setup.start.dtype)


class _Participant:
    """Memory comes in as arrays of numpy, and goes out as numbers of the problem's type side by side."""

    def __init__(self, rival: Rival, port: Port, dtype: "numpy.dtype[Any]") -> None:
        self._rival = rival
        self._port = port
        self._dtype = dtype

    def start(self) -> None:
        self._rival.start(self._port)

    def computed(self, gradient: Any, loss: float) -> None:
        self._rival.computed(self._port, numpy.asarray(gradient), loss)

    def received(self, numbers: Any, version: int, tag: int, weight: float, sender: int) -> None:
        array = None if numbers is None else numpy.asarray(numbers)
        self._rival.received(self._port, Letter(array, version, tag, weight, sender))

    def model(self) -> Optional[numpy.ndarray]:
        model = self._rival.model
        return None if model is None else _numbers(model, self._dtype)

    def kept(self) -> int:
        return sum(held.nbytes for held in vars(self._rival).values() if isinstance(held, numpy.ndarray))


def split_rivals(settings: Dict[str, Any]) -> Tuple[Dict[str, Any], List[Kind]]:
    """Classes among the rivals, and the settings with their names instead."""
    given = settings.get("rivals")
    if given is None or isinstance(given, str):
        return settings, []
    rivals: Sequence[Any] = [given] if inspect.isclass(given) else list(given)
    own = {rival: _kind(rival) for rival in rivals if not isinstance(rival, str)}
    names = [rival if isinstance(rival, str) else own[rival].name for rival in rivals]
    return {**settings, "rivals": names}, list(own.values())


def _kind(rival: Any) -> Kind:
    if not (inspect.isclass(rival) and issubclass(rival, Rival)):
        raise InputError(f"{rival!r} is not a rival: give a name, or a class derived from dasgd.Rival")
    return Kind(rival)


def _counted(rival: Type[Rival], name: str) -> int:
    value = getattr(rival, name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{rival.__name__}: {name} = {value!r} is not a number of participants")
    return value


def _edition(rival: Type[Rival]) -> str:
    """Of the files that the class and its bases are in; where there is none, finished runs are not taken over."""
    try:
        texts = ["".join(inspect.findsource(base)[0]) for base in rival.__mro__ if base not in (Rival, object)]
    except (OSError, TypeError):
        return "python-" + uuid.uuid4().hex
    return "python-" + hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _require_count(name: str, value: Any) -> None:
    if not isinstance(value, number_kinds.Integral) or value < 0:
        raise InputError(f"{name} = {value!r} is not a whole number of at least 0")


def _numbers(values: Any, dtype: "numpy.dtype[Any]") -> numpy.ndarray:
    return numpy.ascontiguousarray(values, dtype=dtype)
