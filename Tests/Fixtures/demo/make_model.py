"""Writes a small ONNX model, y = 2 x + 1, with the standard library alone. Usage: make_model.py FILE."""
import struct
import sys


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def text(field: int, value: str) -> bytes:
    return message(field, value.encode())


def tensor(name: str, value: float) -> bytes:
    return number(1, 1) + number(2, 1) + text(8, name) + message(9, struct.pack("<f", value))


def node(operator: str, inputs: list[str], output: str) -> bytes:
    return b"".join(text(1, name) for name in inputs) + text(2, output) + text(4, operator)


def value_info(name: str) -> bytes:
    shape = message(1, number(1, 4))
    return text(1, name) + message(2, message(1, number(1, 1) + message(2, shape)))


graph = (
    message(1, node("Mul", ["x", "two"], "scaled"))
    + message(1, node("Add", ["scaled", "one"], "y"))
    + text(2, "linear")
    + message(5, tensor("two", 2.0))
    + message(5, tensor("one", 1.0))
    + message(11, value_info("x"))
    + message(12, value_info("y"))
)
model = number(1, 8) + text(2, "sealift-demo") + message(7, graph) + message(8, number(2, 13))
with open(sys.argv[1], "wb") as file:
    file.write(model)
