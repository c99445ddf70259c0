"""Prints the accuracy of a TorchScript file on PNG pictures in colours, a folder for each class: pictures_accuracy.py MODEL.pt DIRECTORY"""
import pathlib
import struct
import sys
import zlib

import torch


def pixels(path):
    """As the standard says, without a library that somebody else might use as well."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", data[at + 8:at + 18])
            assert (depth, colours) == (8, 2)
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    raw, stride = zlib.decompress(packed), 3 * width
    above, rows = bytes(stride), b""
    for begin in range(0, len(raw), stride + 1):
        filtered, line = raw[begin], bytearray(raw[begin + 1:begin + 1 + stride])
        for i in range(stride):
            left, up, corner = line[i - 3] if i > 2 else 0, above[i], above[i - 3] if i > 2 else 0
            nearest = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
            line[i] = (line[i] + (0, left, up, (left + up) // 2, nearest)[filtered]) % 256
        rows, above = rows + line, line
    return torch.frombuffer(bytearray(rows), dtype=torch.uint8).reshape(height, width, 3).permute(2, 0, 1)


network = torch.jit.load(sys.argv[1])
right = count = 0
for path in sorted(pathlib.Path(sys.argv[2]).glob("*/*.png")):
    with torch.no_grad():
        answer = network.classes[int(network(pixels(path)[None]).argmax(1))]
    right, count = right + (answer == path.parent.name), count + 1
print(right / count)
