"""What a model takes and gives: read from files that are larger than memory should be needed for, and judged."""
import json
import statistics
import subprocess
import sys
import time

from pathlib import Path

from hollow_files import write_all
from measure import SEALIFT, VERDICT_TIME, Bench, compare, milliseconds, process, spread
from onnx_files import write_model

# The most that a whole process may have resident for a model of any size, in bytes.
MOST_MEMORY = 16_000_000


def run(bench: Bench) -> None:
    models = write_all(bench.folder, 2 * 10**9)
    for title, path in models.items():
        read(title, path, bench)
    small = bench.folder / "small.onnx"
    write_model(small, 1, 1)
    read(f"a file of {small.stat().st_size} bytes", small, bench)
    compare(
        bench.rounds * 2,
        "interface of a 2 GB model with its weights inside, whole process",
        ([SEALIFT, "inspect", models["onnx, weights inside"]], bench.environment),
        "python -c 'import onnx' (without a file)",
        ([sys.executable, "-c", "import onnx"], bench.environment),
    )
    verdicts(bench.rounds)


def read(title: str, path: Path, bench: Bench) -> None:
    """What it takes to read a model: for a person, and in the process that a device starts for it."""
    print(f"interface, {title}, whole process")
    for name, words, given in (
        ("inspect", ["inspect", path], b""), ("on a device", ["read-model"], request(path)),
    ):
        runs = [process([SEALIFT, *words], bench.environment, given=given) for _ in range(bench.rounds * 2)]
        peak = max(peak for _, peak in runs)
        note = "" if peak <= MOST_MEMORY else f", MORE THAN {MOST_MEMORY:,}"
        print(f"  {name}  {spread([seconds for seconds, _ in runs], milliseconds)}; peak {peak:,} bytes{note}")
    print(flush=True)


def request(path: Path) -> bytes:
    """What `sync` has read on a device: every file of a version, where it lies, and who waits for the answer."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    top = path if path.is_dir() and path.suffix == "" else path.parent
    rows = [
        {"length": file.stat().st_size, "location": str(file), "path": str(file.relative_to(top))} for file in files
    ]
    entry = next(row["path"] for row in rows if row["path"].endswith(("Manifest.json", *FORMATS)))
    kind = "coreml-package" if entry.endswith("Manifest.json") else FORMATS[Path(entry).suffix]
    document = {"entry": entry, "files": rows, "format": kind, "parent": "PARENT", "type": "sealift/reading-request@1"}
    return json.dumps(document, separators=(",", ":")).replace('"PARENT"', "PARENT").encode()


FORMATS = {
    ".onnx": "onnx", ".mlmodel": "coreml-model", ".tflite": "tflite", ".gguf": "gguf", ".safetensors": "safetensors",
}


def verdicts(rounds: int) -> None:
    """One verdict, against what Python takes to read the interface that it is about."""
    lines = subprocess.run([VERDICT_TIME], check=True, capture_output=True, text=True).stdout.splitlines()
    micro = lambda seconds: f"{seconds * 1e6:.1f} µs"
    for row in map(json.loads, lines):
        theirs = []
        for _ in range(rounds * 20):
            start = time.perf_counter()
            json.loads(row["interface"])
            theirs.append(time.perf_counter() - start)
        ours, peer = row["median_ns"] / 1e9, statistics.median(theirs)
        print(f"verdict: {row['name']}")
        print(f"  sealift  {micro(ours)} [{micro(row['least_ns'] / 1e9)} … {micro(row['worst_ns'] / 1e9)}]")
        print(f"  json.loads of the interface  {micro(peer)} [{micro(min(theirs))} … {micro(max(theirs))}]")
        print(f"  ratio    {peer / ours:.2f}\n", flush=True)
