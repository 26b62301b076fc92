"""Copies an ONNX file and adds one metadata_props entry, so that the bytes differ and the network does not.

Usage: relabel.py FROM TO KEY VALUE. An ONNX file is one protobuf message, and a repeated field
(ModelProto.metadata_props, number 14) may be appended to it.
"""
import sys


def field(number: int, payload: bytes) -> bytes:
    key, length, head = number << 3 | 2, len(payload), bytearray()
    for value in (key, length):
        while value > 0x7F:
            head.append(value & 0x7F | 0x80)
            value >>= 7
        head.append(value)
    return bytes(head) + payload


source, target, key, value = sys.argv[1:5]
with open(source, "rb") as file:
    content = file.read()
with open(target, "wb") as file:
    file.write(content + field(14, field(1, key.encode()) + field(2, value.encode())))
