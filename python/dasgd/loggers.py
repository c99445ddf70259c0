"""Callbacks that keep what a run looks like: in a CSV file, or for TensorBoard.

    dasgd.train(..., callback=dasgd.loggers.TensorBoard("logs/first"))

They are callables of one dictionary, so a loop of your own may call them as well, with what it likes.
"""

from __future__ import annotations

import csv
import numbers
import os
import socket
import struct
import time
from typing import Any, BinaryIO, Dict, List, Optional, TextIO, Union

__all__ = ["CSV", "TensorBoard"]

Path = Union[str, "os.PathLike[str]"]


class CSV:
    """A line for each call, with the columns of the first one; what comes later under other names is left out."""

    def __init__(self, path: Path) -> None:
        self._file: Optional[TextIO] = open(path, "w", encoding="utf-8", newline="")
        self._columns: Optional[List[str]] = None

    def __call__(self, now: Dict[str, Any]) -> None:
        if self._file is None:
            raise ValueError("this logger is closed")
        writer = csv.DictWriter(self._file, self._columns or list(now), extrasaction="ignore")
        if self._columns is None:
            self._columns = list(now)
            writer.writeheader()
        writer.writerow(now)
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class TensorBoard:
    """An event file in `directory`, which ``tensorboard --logdir`` reads: one curve for each number of the dictionary,
    over its `step`, or over `gradients`."""

    def __init__(self, directory: Path) -> None:
        os.makedirs(directory, exist_ok=True)
        name = f"events.out.tfevents.{time.time():.6f}.{socket.gethostname()}.{os.getpid()}.dasgd"
        self._file: Optional[BinaryIO] = open(os.path.join(directory, name), "xb")
        self._write(_double(1, time.time()) + _bytes(3, b"brain.Event:2"))

    def __call__(self, now: Dict[str, Any]) -> None:
        step = int(now.get("step", now.get("gradients", 0)))
        values = {k: v for k, v in now.items() if isinstance(v, numbers.Real) and k not in ("step", "gradients")}
        summary = b"".join(_bytes(1, _bytes(1, k.encode()) + _float(2, float(v))) for k, v in values.items())
        self._write(_double(1, time.time()) + _integer(2, step) + _bytes(5, summary))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    # A record: its length, the checksum of that, the bytes, their checksum.
    def _write(self, event: bytes) -> None:
        if self._file is None:
            raise ValueError("this logger is closed")
        length = struct.pack("<Q", len(event))
        self._file.write(length + _checksum(length) + event + _checksum(event))
        self._file.flush()


# Fields of a protocol buffer: number and kind, then the value.
def _integer(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _float(field: int, value: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)


def _table() -> List[int]:
    table = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


_CRC32C = _table()


# CRC-32C, rotated by 15 bits and offset, as TFRecord has it.
def _checksum(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC32C[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
