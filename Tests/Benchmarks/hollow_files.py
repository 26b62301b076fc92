"""Models of every format that are nearly all weights, which are a hole: nothing that reads only the structure can tell."""
import json
import shutil
import struct
from pathlib import Path

from measure import ROOT
from onnx_files import message, number, varint, write_external, write_hollow

FIXTURES = ROOT / "Tests/Fixtures/models"


def hollow(path: Path, before: bytes, hole: int) -> Path:
    with open(path, "wb") as file:
        file.write(before)
        file.truncate(len(before) + hole)
    return path


def safetensors(path: Path, size: int) -> Path:
    header = json.dumps({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    return hollow(path, struct.pack("<Q", len(header)) + header, size)


def gguf(path: Path, size: int) -> Path:
    text = lambda words: struct.pack("<Q", len(words)) + words
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama")
    head += text(b"w") + struct.pack("<IQIQ", 1, size // 4, 0, 0)
    return hollow(path, head + bytes(-len(head) % 32), size)


def tflite(path: Path, size: int) -> Path:
    """One subgraph of nothing, and a buffer behind the flatbuffer, as files over 2 GiB have theirs."""
    model = struct.pack("<I4s7H2xiIII", 24, b"TFL3", 14, 16, 4, 0, 8, 0, 12, 16, 3, 8, 12)
    vectors = struct.pack("<IIII", 1, 16, 1, 28)
    subgraph = struct.pack("<HHi", 4, 4, 4)
    buffer = struct.pack("<5H6xi4xQQ", 10, 24, 0, 8, 16, 16, 128, size)
    return hollow(path, (model + vectors + subgraph + buffer).ljust(128, b"\0"), size)


def mlmodel(path: Path, size: int) -> Path:
    """A network of one layer, y = w * x."""
    port = lambda name: message(1, name) + message(3, message(5, message(1, b"\1") + number(2, 65568)))
    structure = b""
    # From the inside: floatValue, weights, innerProduct, the layer, neuralNetwork; each open as far as the weights.
    layer = message(1, b"l") + message(2, b"x") + message(3, b"y")
    for field, before in ((1, b""), (20, b""), (140, number(1, 1) + number(2, size // 4)), (1, layer), (500, b"")):
        length = len(before) + len(structure) + size
        structure = varint(field << 3 | 2) + varint(length) + before + structure
    description = message(1, port(b"x")) + message(10, port(b"y"))
    return hollow(path, number(1, 1) + message(2, description) + structure, size)


def mlpackage(path: Path, size: int) -> Path:
    shutil.copytree(FIXTURES / "coreml/mlprogram.mlpackage", path)
    with open(path / "Data/com.apple.CoreML/weights/weight.bin", "ab") as file:
        file.truncate(size)
    return path


def write_all(folder: Path, size: int) -> dict[str, Path]:
    """One of each, by what is shown of it."""
    inline, external = folder / "inline.onnx", folder / "external"
    external.mkdir()
    write_hollow(inline, size // 10**9)
    write_external(external / "model.onnx", size // 10**9)
    return {
        "onnx, weights inside": inline,
        "onnx, weights beside": external,
        "coreml-model": mlmodel(folder / "model.mlmodel", size),
        "coreml-package": mlpackage(folder / "model.mlpackage", size),
        "tflite": tflite(folder / "model.tflite", size),
        "gguf": gguf(folder / "model.gguf", size),
        "safetensors": safetensors(folder / "model.safetensors", size),
    }
