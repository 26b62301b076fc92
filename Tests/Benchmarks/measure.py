"""Runs two sides in turn and prints medians, spread and ratio."""
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEALIFT = ROOT / ".build/release/sealift"
TUF_CLIENT = ROOT / ".build/release/tuf-client"
VERDICT_TIME = ROOT / ".build/release/verdict-time"
CANONICAL_RATE = ROOT / ".build/release/canonical-rate"

# A process begins with the peak memory of the one that started it, so a small one does. What the system counts of a
# process that has ended is the most that it or any of those that it started and waited for had, whichever was greater.
# Of what the process is to read, PARENT becomes the launcher's number.
LAUNCHER = (
    "import json, os, sys, time\n"
    "given = sys.stdin.buffer.read().replace(b'PARENT', str(os.getpid()).encode())\n"
    "start = time.perf_counter()\n"
    "reading, writing = os.pipe()\n"
    "os.write(writing, given)\n"
    "os.close(writing)\n"
    "files = [(os.POSIX_SPAWN_DUP2, reading, 0), (os.POSIX_SPAWN_DUP2, 2, 1)]\n"
    "child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=files)\n"
    "_, status, usage = os.wait4(child, 0)\n"
    "seconds = time.perf_counter() - start\n"
    "json.dump([os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss * 1024], sys.stdout)\n"
)


def process(words: list, environment: dict, expected: int = 0, given: bytes = b"") -> tuple[float, int]:
    """Runs one process to its end, with the exit code expected: seconds, and the most memory it had resident, in bytes.

    What is `given` it reads from standard input; not more than a pipe holds.
    """
    words = [str(word) for word in words]
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, *words]
    done = subprocess.run(launcher, env=environment, input=given, capture_output=True, check=True)
    code, seconds, peak = json.loads(done.stdout)
    if code != expected:
        raise SystemExit(f"bench: {' '.join(words)} ended with {code}: {done.stderr.decode()}")
    return seconds, peak


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.1 else f"{seconds * 1000:.1f} ms"


def spread(values: list, show) -> str:
    return f"{show(statistics.median(values))} [{show(min(values))} … {show(max(values))}]"


def compare(rounds: int, name: str, ours, peer_name: str, peer, show=milliseconds) -> None:
    """One row; `show` turns seconds into what it reports.

    Each side is a function, or the words and the environment of a process, whose peak memory is reported too.
    """
    seconds: dict[int, list[float]] = {0: [], 1: []}
    peaks: dict[int, list[int]] = {0: [], 1: []}
    for _ in range(rounds):
        for side, action in enumerate((ours, peer)):
            if callable(action):
                start = time.perf_counter()
                action()
                seconds[side].append(time.perf_counter() - start)
            else:
                taken, peak = process(*action)
                seconds[side].append(taken)
                peaks[side].append(peak)
    print(name)
    for side, title in enumerate(("sealift", peer_name)):
        memory = f"; peak {statistics.median(peaks[side]) / 1e6:.1f} MB" if peaks[side] else ""
        print(f"  {title}  {spread(seconds[side], show)}{memory}")
    ratio = statistics.median(seconds[1]) / statistics.median(seconds[0])
    print(f"  ratio    {ratio:.2f}; n = {rounds}\n", flush=True)


class Bench:
    """A folder, and in it a registry that serves."""

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

    def run(self, arguments: list, environment: dict | None = None) -> str:
        words = [str(SEALIFT), *map(str, arguments)]
        environment = environment or self.environment
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"bench: {' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def compare(self, name: str, ours, peer_name: str, peer, show=milliseconds) -> None:
        compare(self.rounds, name, ours, peer_name, peer, show)
