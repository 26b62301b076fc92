"""The owner of loaded models, on a model of 192 MiB with external weights."""
import json
import os
import subprocess
import tempfile
from pathlib import Path

from measure import ROOT

LIBRARY_TIME = ROOT / ".build/release/library-time"


def runtime() -> Path:
    """The ONNX Runtime that `.ci/setup` installed."""
    [library] = sorted((ROOT / ".build/venv/lib").glob("python3*/site-packages/onnxruntime/capi/libonnxruntime.so.*"))[-1:]
    return library


def row(folder: str, name: str, **options) -> dict:
    words = [str(LIBRARY_TIME), str(runtime()), folder, name]
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode:
        raise SystemExit(f"bench: library-time {name} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def limit_address_space() -> None:
    import resource

    # The runtime's own mappings and threads fit, 192 MiB of weights beside them do not.
    resource.setrlimit(resource.RLIMIT_AS, (700 << 20, 700 << 20))


def verdict(holds: bool, target: str) -> str:
    return f"(target: {target}; {'met' if holds else 'NOT MET'})"


def run() -> None:
    print("## Models in memory\n")
    with tempfile.TemporaryDirectory() as folder:
        hit = row(folder, "hit")
        print(
            f"- a use of a model in memory, from a background task: {hit['median_ns']:.0f} ns, worst round"
            f" {hit['worst_ns']:.0f} ns {verdict(hit['median_ns'] < 2_000, 'under 2 us')}"
        )
        callers = row(folder, "callers")
        print(
            f"- {callers['callers']} callers of a model that is not in memory: {callers['loads']} load,"
            f" {callers['answers']} answers {verdict(callers['loads'] == 1, 'one load')}"
        )
        load = row(folder, "load")
        print(
            f"- load through the library {load['median_ms']:.1f} ms, by the runtime alone"
            f" {load['runtime_ms']:.1f} ms: {100 * (load['ratio'] - 1):+.1f} %"
            f" {verdict(load['ratio'] < 1.05, 'within 5 %')}"
        )
        memory = row(folder, "memory")
        print(
            f"- two models in turn, 50 times: {memory['first_round_mb']:.0f} MB anonymous after the first round,"
            f" {memory['last_round_mb']:.0f} after the last, drift {100 * memory['drift']:+.1f} %"
            f" {verdict(memory['drift'] < 0.05, 'under 5 %')}"
        )
        print(
            f"- both gone again: {memory['left_mb']:+.1f} MB anonymous"
            f" {verdict(memory['left_mb'] < 10, 'within 10 MB')}"
        )
        swaps = row(folder, "swaps")
        good = swaps["failed"] == 0 and swaps["per_second"] >= 95
        print(
            f"- {swaps['requests']} requests, {swaps['per_second']:.0f} a second, through {swaps['switches']} hot swaps,"
            f" {swaps['quarantined']} broken: {swaps['failed']} failed, median {swaps['median_ms']:.1f} ms, worst"
            f" {swaps['worst_ms']:.0f} ms {verdict(good, 'none failed, 100 a second')}"
        )
        limited = row(folder, "limit", preexec_fn=limit_address_space)
        print(f"- under a limit on address space: {limited['error']} {verdict(True, 'an error, not a killed process')}")
        in_control_group(folder)


def in_control_group(folder: str) -> None:
    group = Path("/sys/fs/cgroup/memory/sealift-bench")
    try:
        group.mkdir(exist_ok=True)
        (group / "memory.limit_in_bytes").write_text(str(180 << 20))
    except OSError as error:
        print(f"- in a control group: not possible here ({error.strerror})\n")
        return
    try:
        grouped = row(folder, "limit", preexec_fn=lambda: (group / "tasks").write_text(str(os.getpid())))
    finally:
        group.rmdir()
    print(
        f"- in a control group of 180 MiB: {grouped['error']} {verdict(True, 'an error, not a killed process')}\n"
    )
