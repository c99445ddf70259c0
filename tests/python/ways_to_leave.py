"""Ways in which a process with a peer ends: name, code, exit status, what standard error has (None: nothing).

Run as a program it forks once for each, and prints what came of them: to start PyTorch takes longer than all of them. The code
finds `model`, `peer` after three steps, and `make`, which makes a peer of a model.
"""

import json
import os
import signal
import sys
import tempfile
import time

END = 0
WAYS = {
    "the end of the program": ("", END, None),
    "del peer": ("del peer", END, None),
    "del model": ("del model", END, None),
    "del both": ("del peer, model", END, None),
    "del and collect": ("del peer; gc.collect(); model(torch.ones(1, 8))", END, None),
    "the model is used after": ("del peer; loop(model, stepping(torch.optim.SGD(model.parameters(), lr=0.1)), 3)", END, None),
    "the model is saved after": ("del peer; torch.save(model.state_dict(), os.devnull)", END, None),
    "a view of a parameter stays": ("w = model[0].weight.data; del peer, model; gc.collect(); w.add_(1)", END, None),
    "a state stays": ("state = peer.state_dict(); del peer, model; gc.collect(); state['model']['0.weight'].sum()", END, None),
    "the gradient stays": ("g = model[0].weight.grad; del peer, model; gc.collect(); g.add_(1)", END, None),
    "a cycle that is collected": ("peer.own = peer; del peer; gc.collect()", END, None),
    "a cycle that is not": ("gc.disable(); peer.own = peer; del peer", END, None),
    "a global list": ("kept = [peer]; del peer", END, None),
    "an attribute of a module": ("sys.kept = peer; del peer", END, None),
    "an attribute of the model": ("model.kept = [peer]; del peer, model; gc.collect()", END, None),
    "a thread's own variable": ("import threading; own = threading.local(); own.peer = peer; del peer", END, None),
    "a generator that waits": ("g = (peer for _ in range(3)); next(g); del peer", END, None),
    "a closure": ("f = (lambda p: lambda: p)(peer); del peer", END, None),
    "its loader": ("kept = peer.loader([1, 2, 3], batch_size=1); next(iter(kept)); del peer", END, None),
    "workers of a loader": ("kept = iter(peer.loader([1, 2, 3], batch_size=1, num_workers=1)); next(kept)", END, None),
    "a function that returns early": ("def f():\n    q = peer\n    return 1\nf(); del peer; gc.collect()", END, None),
    "an exception that is caught": ("try:\n    q = peer; del peer; 1 / 0\nexcept ZeroDivisionError: del q\ngc.collect()", END, None),
    "an exception whose traceback is kept": ("def f(p): 1 / 0\ntry: f(peer)\nexcept ZeroDivisionError as e: kept = e\ndel peer", END, None),
    "an exception": ("raise RuntimeError('it is ill')", 1, "RuntimeError: it is ill"),
    "an exception in with": ("with peer: raise RuntimeError('it is ill')", 1, "RuntimeError: it is ill"),
    "an exception in a hook of backward": ("w = model(torch.ones(1, 8)).sum(); w.register_hook(lambda g: 1 / 0); w.backward()", 1, "ZeroDivisionError"),
    "sys.exit": ("sys.exit()", END, None),
    "sys.exit with a status": ("sys.exit(3)", 3, None),
    "sys.exit with a message": ("sys.exit('it ends')", 1, "it ends"),
    "sys.exit in with": ("with peer: sys.exit(3)", 3, None),
    "os._exit": ("os._exit(4)", 4, None),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", -signal.SIGINT, "KeyboardInterrupt"),
    "an interrupt": ("os.kill(os.getpid(), signal.SIGINT); time.sleep(60)", -signal.SIGINT, "KeyboardInterrupt"),
    "an interrupt that is caught": ("try: os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\nexcept KeyboardInterrupt: pass\nloop(model, peer.step, 3)", END, None),
    "an interrupt in with": ("with peer: os.kill(os.getpid(), signal.SIGINT); time.sleep(60)", -signal.SIGINT, "KeyboardInterrupt"),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)", -signal.SIGTERM, None),
    "SIGTERM as an exception": ("signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)", 7, None),
    "finish": ("peer.finish()", END, None),
    "finish twice": ("peer.finish(); peer.finish(); del peer", END, None),
    "close twice": ("peer.close(); peer.close(); del peer", END, None),
    "close, then finish": ("peer.close(); peer.finish()", 1, "this peer has finished"),
    "a step after finish": ("peer.finish(); peer.step()", 1, "this peer has finished"),
    "finish at exit": ("import atexit; atexit.register(peer.finish)", END, None),
    "stop": ("peer.stop()", END, None),
    "stop and finish": ("peer.stop(); assert not peer.step(); peer.finish()", END, None),
    "stop from a thread": ("import threading; t = threading.Thread(target=peer.stop); t.start(); t.join(); assert not peer.step()", END, None),
    "inside model_of_all": ("with peer.model_of_all(): sys.exit(3)", 3, None),
    "dropped inside model_of_all": ("view = peer.model_of_all(); view.__enter__(); del peer; gc.collect()", END, None),
    "inside no_sync": ("with peer.no_sync(): sys.exit(3)", 3, None),
    "gradients without a step": ("model(torch.ones(1, 8)).sum().backward()", END, None),
    "a graph that lives on": ("y = model(torch.ones(1, 8)).sum(); del peer; gc.collect(); y.backward()", END, None),
    "a thread that steps and ends": ("import threading; t = threading.Thread(target=loop, args=(model, peer.step, 3)); t.start(); t.join()", END, None),
    "a thread that steps while the program ends": ("import threading; threading.Thread(target=loop, args=(model, peer.step, 50)).start()", END, None),
    "a daemon that steps for ever": ("import threading\ndef f():\n    while peer.step(): time.sleep(0)\nthreading.Thread(target=f, daemon=True).start(); time.sleep(0.05)", END, None),
    "two threads that step at once": (
        "import threading\ndef f():\n    for _ in range(50):\n        try: peer.step()\n        except dasgd.InputError as e: assert 'one at a time' in str(e)\n"
        "ts = [threading.Thread(target=f) for _ in range(2)]\nfor t in ts: t.start()\nfor t in ts: t.join()", END, None),
    "closed by another thread": ("import threading; t = threading.Thread(target=peer.close); t.start(); t.join()", END, None),
    "a thread that drops it last": ("import threading\nt = threading.Thread(target=lambda p: time.sleep(0.05), args=(peer,)); del peer; t.start(); t.join(); del t; gc.collect()", END, None),
    "a fork that exits": ("pid = os.fork()\nif pid == 0: sys.exit(5)\nassert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5\nloop(model, peer.step, 3)", END, None),
    "a fork that drops it": ("pid = os.fork()\nif pid == 0:\n    del peer; gc.collect(); sys.exit(5)\nassert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5\nloop(model, peer.step, 3)", END, None),
    "a fork that steps": ("pid = os.fork()\nif pid == 0:\n    try: peer.step()\n    except dasgd.InputError: sys.exit(5)\nassert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5", END, None),
    "a fork that finishes": ("pid = os.fork()\nif pid == 0:\n    try: peer.finish()\n    except dasgd.InputError: sys.exit(5)\nassert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5", END, None),
    "a fork that raises": ("pid = os.fork()\nif pid == 0: raise RuntimeError('the child is ill')\nassert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1\nloop(model, peer.step, 3)", END, "the child is ill"),
    "a fork that uses the model": ("pid = os.fork()\nif pid == 0:\n    model(torch.ones(1, 8)); sys.exit(5)\nassert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5", END, None),
    "a fork whose parent has gone": ("if os.fork() == 0: time.sleep(0.05)", END, None),
    "multiprocessing": ("import multiprocessing as m; p = m.get_context('fork').Process(target=time.sleep, args=(0,)); p.start(); p.join(); assert p.exitcode == 0", END, None),
    "a subprocess": ("import subprocess; subprocess.run(['true'], check=True); loop(model, peer.step, 3)", END, None),
    "a name in a dictionary that is cleared": ("names = {'peer': peer}; del peer; names.clear(); gc.collect()", END, None),
    "a weak reference": ("import weakref; w = weakref.ref(peer); del peer; gc.collect(); assert w() is None", END, None),
    "a copy of the model": ("import copy; twin = copy.deepcopy(model); del peer, model; gc.collect(); twin(torch.ones(1, 8))", END, None),
    "the model is used at exit": ("import atexit; atexit.register(lambda: model(torch.ones(1, 8))); del peer", END, None),
    "an exception at exit": ("import atexit; atexit.register(lambda: 1 / 0)", END, "ZeroDivisionError"),
    "an exception in a thread": ("import threading; t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join(); loop(model, peer.step, 3)", END, "ZeroDivisionError"),
    "sys.exit in a thread": ("import threading; t = threading.Thread(target=sys.exit); t.start(); t.join(); loop(model, peer.step, 3)", END, None),
    "a pool of threads": ("from concurrent.futures import ThreadPoolExecutor as Pool\nwith Pool(2) as p: p.submit(loop, model, peer.step, 3).result()", END, None),
    "a task that is cancelled": (
        "import asyncio\nasync def f():\n    while peer.step(): await asyncio.sleep(0)\n"
        "async def g():\n    t = asyncio.create_task(f()); await asyncio.sleep(0.02); t.cancel()\nasyncio.run(g())", END, None),
    "an interrupt between its steps": (
        "def f(*_): raise KeyboardInterrupt\nsignal.signal(signal.SIGALRM, f); signal.setitimer(signal.ITIMER_REAL, 0.02)\nwhile True: loop(model, peer.step, 1)",
        -signal.SIGINT, "KeyboardInterrupt"),
    "dropped in a signal handler": ("def f(*_): globals().pop('peer')\nsignal.signal(signal.SIGUSR1, f); os.kill(os.getpid(), signal.SIGUSR1); gc.collect(); model(torch.ones(1, 8))", END, None),
    "SIGHUP": ("os.kill(os.getpid(), signal.SIGHUP); time.sleep(60)", -signal.SIGHUP, None),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, None),
    "os.abort": ("os.abort()", -signal.SIGABRT, None),
    "another program": ("os.execv('/bin/sh', ['sh', '-c', 'exit 6'])", 6, None),
    "a recursion without end": ("def f(): f()\nf()", 1, "RecursionError"),
    "out of memory": ("bytearray(1 << 60)", 1, "MemoryError"),
    "a pool of forks": ("import multiprocessing as m\nwith m.get_context('fork').Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]\nloop(model, peer.step, 3)", END, None),
    "a fork of a fork": ("pid = os.fork()\nif pid == 0:\n    if os.fork() == 0: sys.exit()\n    os.wait(); sys.exit(5)\nassert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5\nloop(model, peer.step, 3)", END, None),
    "a fork that is killed": ("pid = os.fork()\nif pid == 0: time.sleep(60)\nos.kill(pid, signal.SIGKILL); os.waitpid(pid, 0); loop(model, peer.step, 3)", END, None),
    "closed inside model_of_all": ("with peer.model_of_all(): peer.close()\nmodel(torch.ones(1, 8))", END, None),
    "finish inside no_sync": ("with peer.no_sync(): peer.finish()", END, None),
    "dropped in a destructor": ("class A:\n    def __del__(self): self.p = None\na = A(); a.p = peer; del peer, a; gc.collect()", END, None),
}
# Where a process can have more than one peer.
ALONE = {
    "a name that is bound again": ("for _ in range(3):\n    model = network(); peer = make(model); loop(model, peer.step, 3)", END, None),
    "another peer after it": ("del peer; gc.collect(); peer = make(network()); peer.finish()", END, None),
    "another peer of the same model": ("del peer; gc.collect(); loop(model, stepping(torch.optim.SGD(model.parameters(), lr=0.1)), 3); peer = make(model); loop(model, peer.step, 3)", END, None),
    "a hundred peers": ("for _ in range(100): make(network())", END, None),
    "two peers at once": ("other = make(network()); del peer; other.step()", END, None),
    "a fork that makes its own": ("pid = os.fork()\nif pid == 0:\n    model = network(); peer = make(model); loop(model, peer.step, 3); assert peer.finish()['gradients'] == 3; sys.exit(5)\nassert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5", END, None),
}
LIMIT = 300  # seconds for one: only where something hangs
AT_ONCE = 8


def end_of(child, began):
    while time.monotonic() < began + LIMIT:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "it hangs"


def become_member():
    """What `dasgd launch` passes to a member that begins a run."""
    place = tempfile.mkdtemp(dir=sys.argv[2])
    dasgd._core.write_token(os.path.join(place, "token"))
    os.mkdir(os.path.join(place, "worker-0"))
    os.environ.update(
        DASGD_MEMBER_DIR=os.path.join(place, "worker-0"), DASGD_TOKEN_FILE=os.path.join(place, "token"), DASGD_LISTEN="127.0.0.1:0",
        DASGD_BEGINS="1", DASGD_JOIN="",
    )


if __name__ == "__main__":
    import gc

    import torch

    import dasgd
    import dasgd.torch
    from loops import loop, network, stepping

    torch.set_num_threads(1)
    mode = sys.argv[1]
    results, running = {}, []

    def take_first():
        name, child, err, began = running.pop(0)
        results[name] = [end_of(child, began), open(err, encoding="utf-8").read()]

    code = None
    for number, (name, (text, _, _)) in enumerate({**WAYS, **({} if mode == "member" else ALONE)}.items()):
        out, err = (os.path.join(sys.argv[2], f"{number}.{kind}") for kind in ("out", "err"))
        child = os.fork()
        if child == 0:
            code = text
            for stream, file in ((1, out), (2, err)):
                os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), stream)
            break
        running.append((name, child, err, time.monotonic()))
        if len(running) >= AT_ONCE:
            take_first()
    if code is None:
        while running:
            take_first()
        print(json.dumps(results))
        sys.exit()

    def make(model):
        rule = {"optimizer": torch.optim.AdamW(model.parameters(), lr=0.01)} if mode == "optimizer" else {"lr": 0.1}
        return dasgd.torch.Peer(model, **rule)

    if mode == "member":
        become_member()
    del text, name, child, results, running
    model = network()
    peer = make(model)
    loop(model, peer.step, 3)
    exec(compile(code, "way", "exec"))
