"""dasgd.torch.Peer with a model on a GPU."""

import pytest

torch = pytest.importorskip("torch")  # the package works without it

import dasgd.torch
from loops import batches, loop, network, plain
from test_torch_ranks import mpirun, reports

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")


@pytest.mark.parametrize("kind", [None, torch.optim.SGD, torch.optim.AdamW])
def test_on_a_gpu_it_is_the_loop_of_torch(kind):
    model = network().cuda()
    rule = {"lr": 0.05} if kind is None else {"optimizer": kind(model.parameters(), lr=0.05)}
    peer = dasgd.torch.Peer(model, **rule)
    losses = loop(model, peer.step)
    assert peer.finish()["gradients"] == 100
    assert all(p.is_cuda for p in model.parameters())
    expected, same = plain(lambda p: (kind or torch.optim.SGD)(p, lr=0.05), device="cuda")
    assert losses == pytest.approx(expected, abs=1e-3)
    assert all(torch.allclose(a, b, atol=1e-3) for a, b in zip(model.parameters(), same.parameters()))


def test_autocast_on_a_gpu():
    model = network().cuda()
    with dasgd.torch.Peer(model, lr=0.1) as peer:
        for x, y in batches(50):
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda())
            loss.backward()
            peer.step(loss)
    expected, _ = plain(lambda p: torch.optim.SGD(p, lr=0.1), 50, "cuda")
    assert float(loss) == pytest.approx(expected[-1], abs=0.05)


def test_ranks_on_one_gpu_end_with_the_same_bytes(tmp_path):
    done = mpirun(tmp_path, 2, device="cuda")
    assert done.returncode == 0, done.stderr
    ranks = reports(done)
    assert len({r[2] for r in ranks}) == 1
    assert all(r[3] == 80 and r[4] == 0 and r[5] == [40, 40] for r in ranks)
