"""What a model takes and gives: read from files that are larger than memory should be needed for, and judged."""
import json
import statistics
import subprocess
import sys
import time

from measure import SEALIFT, VERDICT_TIME, Bench, compare, process
from onnx_files import write_external, write_hollow, write_model


def run(bench: Bench) -> None:
    inline, small = bench.folder / "inline.onnx", bench.folder / "small.onnx"
    folder = bench.folder / "external"
    folder.mkdir()
    write_hollow(inline, 2)
    write_external(folder / "model.onnx", 2)
    write_model(small, 1, 1)
    for title, path in (("inside", inline), ("in another file", folder)):
        compare(
            bench.rounds * 2,
            f"interface of a 2 GB model with its weights {title}, whole process",
            ([SEALIFT, "inspect", path], bench.environment),
            "python -c 'import onnx' (without a file)",
            ([sys.executable, "-c", "import onnx"], bench.environment),
        )
    _, peak = process([SEALIFT, "inspect", small], bench.environment)
    print(f"  with a file of {small.stat().st_size} bytes: peak {peak / 1e6:.1f} MB\n")
    inline.unlink()
    verdicts(bench.rounds)


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
