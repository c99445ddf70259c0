"""Loggers, read back by independent means."""

import csv
import struct

import pytest

import dasgd
import dasgd.loggers


def crc32c(data):
    """Bit after bit, as the polynomial says."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    data = path.read_bytes()
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        assert struct.unpack("<I", data[8:12])[0] == masked(data[:8])
        event = data[12 : 12 + length]
        assert struct.unpack("<I", data[12 + length : 16 + length])[0] == masked(event)
        yield event
        data = data[16 + length :]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            (value,), at = struct.unpack("<d", data[at : at + 8]), at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            assert kind == 5
            (value,), at = struct.unpack("<f", data[at : at + 4]), at + 4
        yield key >> 3, value


def scalars(event):
    step, values = 0, {}
    for number, value in fields(event):
        if number == 2:
            step = value
        if number == 5:
            for _, one in fields(value):
                parts = dict(fields(one))
                values[parts[1].decode()] = parts[2]
    return step, values


def test_the_checksum_is_crc32c():
    assert crc32c(b"123456789") == 0xE3069283  # the check value of the catalogue of CRCs
    assert struct.unpack("<I", dasgd.loggers._checksum(b"123456789"))[0] == masked(b"123456789")


def test_event_files_hold_what_was_reported(tmp_path):
    log = dasgd.loggers.TensorBoard(tmp_path / "logs")
    log({"gradients": 5, "loss": 0.5, "accuracy": None, "note": "no number"})
    log({"step": 1 << 40, "loss": 0.25, "größe": 3})
    log.close()
    with pytest.raises(ValueError):
        log({"loss": 1})
    (path,) = (tmp_path / "logs").iterdir()
    assert ".tfevents." in path.name
    first, *events = records(path)
    assert dict(fields(first))[3] == b"brain.Event:2"
    assert [scalars(event) for event in events] == [(5, {"loss": 0.5}), (1 << 40, {"loss": 0.25, "größe": 3.0})]


def test_a_run_is_logged_by_several(tmp_path):
    logs = [dasgd.loggers.TensorBoard(tmp_path / "tb"), dasgd.loggers.CSV(tmp_path / "log.csv")]
    seen = []
    dasgd.train(model="quadratic", workers=2, max_time="60s", compute="1ms", lr=1e-4, out=tmp_path / "run",
                callback=[*logs, seen.append, lambda now: len(seen) < 3])
    for log in logs:
        log.close()
    with open(tmp_path / "log.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    (path,) = (tmp_path / "tb").iterdir()
    events = [scalars(event) for event in list(records(path))[1:]]
    assert seen and [int(row["gradients"]) for row in rows] == [now["gradients"] for now in seen]
    assert [step for step, _ in events] == [now["gradients"] for now in seen]
    assert [values["loss"] for _, values in events] == pytest.approx([now["loss"] for now in seen])


def test_any_callback_may_end_the_run(tmp_path):
    calls = []
    run = dasgd.train(model="quadratic", workers=2, max_time="60s", compute="1ms", lr=1e-4, out=tmp_path / "run",
                      callback=[lambda now: False, calls.append])
    assert run.summary["stop_reason"] == "callback"
    assert calls, "the others are called as well"
