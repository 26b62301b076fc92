"""Measures Sealift against named peers on this machine, in one run.

Each row runs both sides in turn, several times, and reports medians and the ratio peer / Sealift (above 1:
Sealift is faster). Nothing here is a test: numbers depend on the machine, and the spread is printed with them.

Usage: run.py [--rounds N] [--mebibytes M]
"""
import argparse
import hashlib
import os
import platform
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEALIFT = ROOT / ".build/release/sealift"
MODEL = "bench/model"


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def write_model(path: Path, mebibytes: int, seed: int) -> None:
    """An ONNX file with one float tensor of random weights: y = x + w, over M x 262,144 elements."""
    elements = mebibytes << 18

    def message(field: int, payload: bytes) -> bytes:
        return varint(field << 3 | 2) + varint(len(payload)) + payload

    def number(field: int, value: int) -> bytes:
        return varint(field << 3) + varint(value)

    def port(name: bytes) -> bytes:
        return message(1, name) + message(2, message(1, number(1, 1) + message(2, message(1, number(1, elements)))))

    node = message(1, b"x") + message(1, b"w") + message(2, b"y") + message(4, b"Add")
    head = number(1, elements) + number(2, 1) + message(8, b"w") + varint(9 << 3 | 2) + varint(elements * 4)
    tail = message(2, b"graph") + message(11, port(b"x")) + message(12, port(b"y"))
    front = message(1, node) + varint(5 << 3 | 2) + varint(len(head) + elements * 4) + head
    with open(path, "wb") as file:
        file.write(number(1, 8) + varint(7 << 3 | 2) + varint(len(front) + elements * 4 + len(tail)) + front)
        block = bytearray(os.urandom(1 << 20))
        for index in range(mebibytes):
            struct.pack_into("<QQ", block, 0, seed, index)
            file.write(block)
        file.write(tail + message(8, number(2, 13)))


class Bench:
    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.folder = Path(tempfile.mkdtemp(prefix="sealift-bench."))
        self.environment = dict(os.environ, SEALIFT_CONFIG=str(self.folder / "client.json"))
        self.run(["init", self.folder / "registry", "--namespace", "bench", "--keys", self.folder / "keys"])
        log = open(self.folder / "serve.out", "wb")
        self.server = subprocess.Popen(
            [SEALIFT, "serve", self.folder / "registry", "--listen", "127.0.0.1:0"],
            stdout=log, stderr=subprocess.STDOUT, env=self.environment,
        )
        deadline = time.monotonic() + 20
        while not (text := (self.folder / "serve.out").read_text()).startswith("https://"):
            if time.monotonic() > deadline or self.server.poll() is not None:
                raise SystemExit(f"bench: the registry did not start: {text}")
            time.sleep(0.05)
        self.url = text.split()[0]
        self.environment["SEALIFT_REGISTRY"] = self.url
        self.ca = self.folder / "ca.pem"

    def close(self) -> None:
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(30)
        subprocess.run(["chmod", "-R", "u+w", self.folder], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, arguments: list) -> str:
        words = [str(SEALIFT), *map(str, arguments)]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"bench: {' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def compare(self, name: str, ours, peer_name: str, peer, unit=None) -> None:
        """Runs both in turn; `unit` turns seconds into what the row reports."""
        mine, theirs = [], []
        for _ in range(self.rounds):
            for action, seconds in ((ours, mine), (peer, theirs)):
                start = time.perf_counter()
                action()
                seconds.append(time.perf_counter() - start)
        ratio = statistics.median(theirs) / statistics.median(mine)
        show = unit or (lambda seconds: f"{seconds * 1000:.0f} ms")
        spread = lambda all: f"{show(statistics.median(all))} [{show(min(all))} … {show(max(all))}]"
        print(f"{name}\n  sealift  {spread(mine)}\n  {peer_name}  {spread(theirs)}\n  ratio    {ratio:.2f}\n")


def write_large(path: Path, gigabytes: int) -> None:
    """The same, with weights that are a hole in the file: nothing that reads only the structure can tell."""
    elements = gigabytes * 250_000_000

    def message(field: int, payload: bytes) -> bytes:
        return varint(field << 3 | 2) + varint(len(payload)) + payload

    # `initializer`: dims, data_type, name, then raw_data of as many bytes as the hole has.
    head = varint(8) + varint(elements) + varint(16) + varint(1) + message(8, b"w") + varint(9 << 3 | 2)
    head += varint(elements * 4)
    shape = message(1, varint(8) + varint(1) + message(2, message(1, varint(8) + varint(elements))))
    port = lambda name: message(1, name) + message(2, shape)
    node = message(1, b"x") + message(1, b"w") + message(2, b"y") + message(4, b"Add")
    tail = message(2, b"graph") + message(11, port(b"x")) + message(12, port(b"y"))
    front = message(1, node) + varint(5 << 3 | 2) + varint(len(head) + elements * 4) + head
    with open(path, "wb") as file:
        file.write(varint(8) + varint(8) + varint(7 << 3 | 2) + varint(len(front) + elements * 4 + len(tail)) + front)
        file.seek(elements * 4, os.SEEK_CUR)
        file.write(tail + message(8, varint(16) + varint(13)))


def peak_memory(words: list, environment: dict) -> int:
    """The most resident memory of one process, in bytes."""
    child = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"bench: {' '.join(map(str, words))} ended with {child.returncode}")
    return usage.ru_maxrss * 1024


def python_tuf(bench: Bench) -> list[str]:
    """A whole process that refreshes the same repository by python-tuf's own client."""
    state = bench.folder / "python-tuf"
    state.mkdir()
    program = (
        "import sys, pathlib; from tuf.ngclient import Updater\n"
        "root = pathlib.Path(sys.argv[1]).read_bytes()\n"
        "u = Updater(metadata_dir=sys.argv[2], metadata_base_url=sys.argv[3] + 'metadata/', bootstrap=root)\n"
        "u.refresh()\n"
    )
    return [sys.executable, "-c", program, str(bench.folder / "root.json"), str(state), bench.url]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mebibytes", type=int, default=256)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}; {options.rounds} rounds, medians\n")
    bench = Bench(options.rounds)
    try:
        model = bench.folder / "model.onnx"
        write_model(model, options.mebibytes, 1)
        bench.run(["publish", model, "--model", MODEL, "--version", "1.0.0", "--channel", "stable"])
        digest = hashlib.sha256(model.read_bytes()).hexdigest()
        device, copy = bench.folder / "device", bench.folder / "copy"
        size = model.stat().st_size

        def fresh_sync() -> None:
            subprocess.run(["chmod", "-R", "u+w", device], check=False, stderr=subprocess.DEVNULL)
            shutil.rmtree(device, ignore_errors=True)
            bench.run(["sync", "--directory", device, "--model", f"{MODEL}@stable"])

        url = f"{bench.url}blobs/sha256/{digest[:2]}/{digest}"
        fetch = ["curl", "-sS", "--cacert", str(bench.ca), "-o", str(copy), url]

        def curl_then_sha256sum() -> None:
            subprocess.run(fetch, check=True)
            subprocess.run(["sha256sum", str(copy)], check=True, stdout=subprocess.DEVNULL)

        def curl_then_sync() -> None:
            subprocess.run(fetch, check=True)
            subprocess.run(["sync", str(copy)], check=True)

        rate = lambda seconds: f"{size / seconds / 1e6:.0f} MB/s"
        bench.compare(
            f"{options.mebibytes} MiB over TLS: fetched, verified, synchronized, activated",
            fresh_sync, "curl -o f && sha256sum f (no sync)", curl_then_sha256sum, rate,
        )
        bench.compare(
            f"{options.mebibytes} MiB over TLS: fetched, verified, synchronized, activated",
            fresh_sync, "curl -o f && sync f (no check)", curl_then_sync, rate,
        )
        large = bench.folder / "large.onnx"
        write_large(large, 2)
        bench.compare(
            "interface of a 2 GB model with its weights inside, whole process",
            lambda: bench.run(["inspect", large]),
            "python -c 'import onnx' (without a file)",
            lambda: subprocess.run([sys.executable, "-c", "import onnx"], check=True),
        )
        small = bench.folder / "small.onnx"
        write_model(small, 1, 1)
        peaks = [peak_memory([SEALIFT, "inspect", path], bench.environment) for path in (large, small)]
        print(f"  peak memory  {peaks[0] / 1e6:.1f} MB; with a file of {small.stat().st_size} bytes {peaks[1] / 1e6:.1f} MB\n")
        large.unlink()
        tuf = python_tuf(bench)
        environment = dict(bench.environment, SSL_CERT_FILE=str(bench.ca), REQUESTS_CA_BUNDLE=str(bench.ca))
        bench.compare(
            "nothing new, whole process",
            lambda: bench.run(["sync", "--directory", device, "--model", f"{MODEL}@stable"]),
            "python-tuf refresh",
            lambda: subprocess.run(tuf, check=True, env=environment),
        )
    finally:
        bench.close()


if __name__ == "__main__":
    main()
