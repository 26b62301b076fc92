"""The interface of a model that is larger than memory should be needed for."""
import sys

from measure import SEALIFT, Bench, process
from onnx_files import write_hollow, write_model


def run(bench: Bench) -> None:
    large, small = bench.folder / "large.onnx", bench.folder / "small.onnx"
    write_hollow(large, 2)
    write_model(small, 1, 1)
    bench.compare(
        "interface of a 2 GB model with its weights inside, whole process",
        ([SEALIFT, "inspect", large], bench.environment),
        "python -c 'import onnx' (without a file)",
        ([sys.executable, "-c", "import onnx"], bench.environment),
    )
    _, peak = process([SEALIFT, "inspect", small], bench.environment)
    print(f"  with a file of {small.stat().st_size} bytes: peak {peak / 1e6:.1f} MB\n")
    large.unlink()
