"""ONNX files of any size, written without a library."""
import os
import struct
from pathlib import Path


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def message(field: int, payload: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(payload)) + payload


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def parts(elements: int) -> tuple[bytes, bytes]:
    """What stands before and after the weights of y = x + w, over that many floats."""

    def port(name: bytes) -> bytes:
        return message(1, name) + message(2, message(1, number(1, 1) + message(2, message(1, number(1, elements)))))

    node = message(1, b"x") + message(1, b"w") + message(2, b"y") + message(4, b"Add")
    # `initializer`: dims, data_type, name, then raw_data.
    head = number(1, elements) + number(2, 1) + message(8, b"w") + varint(9 << 3 | 2) + varint(elements * 4)
    tail = message(2, b"graph") + message(11, port(b"x")) + message(12, port(b"y"))
    front = message(1, node) + varint(5 << 3 | 2) + varint(len(head) + elements * 4) + head
    graph = varint(7 << 3 | 2) + varint(len(front) + elements * 4 + len(tail)) + front
    return number(1, 8) + graph, tail + message(8, number(2, 13))


def write_model(path: Path, mebibytes: int, seed: int) -> None:
    """A file with random weights."""
    before, after = parts(mebibytes << 18)
    with open(path, "wb") as file:
        file.write(before)
        block = bytearray(os.urandom(1 << 20))
        for index in range(mebibytes):
            struct.pack_into("<QQ", block, 0, seed, index)
            file.write(block)
        file.write(after)


def write_hollow(path: Path, gigabytes: int) -> None:
    """A file whose weights are a hole: nothing that reads only the structure can tell."""
    elements = gigabytes * 250_000_000
    before, after = parts(elements)
    with open(path, "wb") as file:
        file.write(before)
        file.seek(elements * 4, os.SEEK_CUR)
        file.write(after)


def write_external(path: Path, gigabytes: int) -> Path:
    """A file whose weights are a hole in another file beside it; that file's path."""
    elements = gigabytes * 250_000_000
    weights = path.with_suffix(".data")
    entry = lambda key, value: message(13, message(1, key) + message(2, value))
    port = lambda name: message(1, name) + message(2, message(1, number(1, 1) + message(2, message(1, number(1, elements)))))
    tensor = number(1, elements) + number(2, 1) + message(8, b"w") + entry(b"location", weights.name.encode())
    tensor += entry(b"offset", b"0") + entry(b"length", str(elements * 4).encode()) + number(14, 1)
    node = message(1, b"x") + message(1, b"w") + message(2, b"y") + message(4, b"Add")
    graph = message(1, node) + message(2, b"graph") + message(5, tensor) + message(11, port(b"x")) + message(12, port(b"y"))
    path.write_bytes(number(1, 8) + message(7, graph) + message(8, number(2, 13)))
    with open(weights, "wb") as file:
        file.truncate(elements * 4)
    return weights
