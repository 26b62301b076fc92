"""TUF metadata: refreshes as whole processes, and the rate of reading and canonicalising alone.

Both clients refresh from the same repository, which python-tuf writes, served by one small server of our own that
keeps connections and answers at once, so that what is measured is the client.
"""
import asyncio
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

from securesystemslib.formats import encode_canonical
from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp

from measure import CANONICAL_RATE, TUF_CLIENT, compare, milliseconds, process, spread

LIMIT = 32_000_000
PYTHON_CLIENT = (
    "import sys, pathlib; from tuf.ngclient import Updater, UpdaterConfig\n"
    "root, state, url, limit = sys.argv[1:]\n"
    "config = UpdaterConfig(targets_max_length=int(limit))\n"
    "u = Updater(state, url, bootstrap=pathlib.Path(root).read_bytes(), config=config)\n"
    "u.refresh()\n"
)


def write_repository(folder: Path, count: int, is_open: bool = False) -> None:
    """Four top-level roles; `count` targets in one of them, with names and digests as long as real ones.

    An open one says no more of the targets file than its version, so that a client reads whatever is served for it.
    """
    folder.mkdir(parents=True)
    expires = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(days=30)
    signers = {role: CryptoSigner.generate_ed25519() for role in ("root", "timestamp", "snapshot", "targets")}

    def write(name: str, document, role: str) -> bytes:
        file = Metadata(document)
        file.sign(signers[role])
        data = file.to_bytes()
        (folder / name).write_bytes(data)
        return data

    def meta(data: bytes) -> MetaFile:
        return MetaFile(1, len(data), {"sha256": hashlib.sha256(data).hexdigest()})

    root = Root(expires=expires, consistent_snapshot=True)
    for role, signer in signers.items():
        root.add_key(signer.public_key, role)
    write("1.root.json", root, "root")
    targets = Targets(expires=expires)
    for index in range(count):
        path = f"team-{index % 97}/model-with-a-name-{index}/1.{index % 10}.0/variant/weights.bin"
        digest = hashlib.sha256(path.encode()).hexdigest()
        targets.targets[path] = TargetFile(1_000_000 + index, {"sha256": digest}, path)
    snapshot = Snapshot(expires=expires)
    listed = meta(write("1.targets.json", targets, "targets"))
    snapshot.meta["targets.json"] = MetaFile(1) if is_open else listed
    timestamp = Timestamp(expires=expires)
    timestamp.snapshot_meta = meta(write("1.snapshot.json", snapshot, "snapshot"))
    write("timestamp.json", timestamp, "timestamp")


class Static(asyncio.Protocol):
    """GET over HTTP/1.1 from one folder."""

    folder: Path

    def connection_made(self, transport) -> None:
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            name = self.received.split(b" ", 2)[1].decode().rpartition("/")[2]
            self.received = self.received[end + 4:]
            file = self.folder / name
            body = file.read_bytes() if file.is_file() else None
            status = "200 OK" if body is not None else "404 Not Found"
            body = body or b""
            self.transport.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


def serve(folder: str) -> None:
    async def forever() -> None:
        Static.folder = Path(folder)
        server = await asyncio.get_running_loop().create_server(Static, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(forever())


def refreshes(folder: Path, rounds: int, count: int) -> None:
    metadata = folder / "metadata"
    write_repository(metadata, count)
    size = (metadata / "1.targets.json").stat().st_size
    server = subprocess.Popen([sys.executable, __file__, metadata], stdout=subprocess.PIPE, text=True)
    try:
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/"
        root, ours, theirs = metadata / "1.root.json", folder / "tuf-client", folder / "python-tuf"
        ours.mkdir()
        theirs.mkdir()
        client = [TUF_CLIENT, "--metadata-dir", ours]
        subprocess.run([*client, "init", root], check=True)
        refresh = [*client, "--metadata-url", url, "--targets-limit", LIMIT, "refresh"]
        peer = [sys.executable, "-c", PYTHON_CLIENT, root, theirs, url, LIMIT]
        for words in (refresh, peer):
            subprocess.run([str(word) for word in words], check=True)
        name = f"refresh without news, {count} targets in one role ({size / 1e6:.1f} MB), whole process"
        compare(rounds, name, (refresh, None), "python-tuf", (peer, None))
    finally:
        server.terminate()
        server.wait()


def hostile_documents() -> dict[str, bytes]:
    """Unsigned files of the greatest length that a client reads for a targets role, each dear in its own way."""

    def filled(before: str, item, after: str) -> bytes:
        items = []
        left = 5_000_000 - len(before) - len(after)
        for index in range(left):
            text = item(index)
            left -= len(text.encode()) + 1
            if left < 0:
                break
            items.append(text)
        return (before + ",".join(items) + after).encode()

    def scattered(index: int) -> str:
        return f"{index * 2654435761 % 2**32:x}"

    start, end = '{"signatures":[],"signed":{"_type":"targets","x":', "}}"
    return {
        "numbers": filled(start + "[ ", lambda _: "0", "]" + end),
        "empty objects": filled(start + "[ ", lambda _: "{}", "]" + end),
        "small objects in disorder": filled(start + "[", lambda _: '{"b":0,"a":0}', "]" + end),
        "one object in disorder": filled(start + "{", lambda i: f'"{scattered(i)}":0', "}" + end),
        "keys that are escaped": filled(start + "{", lambda i: f'"\\u0061{scattered(i)}":0', "}" + end),
        "keys with a long beginning": filled(start + "{", lambda i: f'"{"a" * 40}{scattered(i)}":0', "}" + end),
        "signatures that are numbers": filled('{"signatures":[', lambda _: "0", '],"signed":{}}'),
        "signatures by nobody": filled(
            '{"signatures":[', lambda i: f'{{"keyid":"{i:x}","sig":""}}', '],"signed":{}}'
        ),
    }


def refusals(folder: Path, rounds: int) -> None:
    """How much of a client's time and memory somebody gets who can serve files and sign none."""
    metadata = folder / "metadata"
    write_repository(metadata, 1, is_open=True)
    server = subprocess.Popen([sys.executable, __file__, metadata], stdout=subprocess.PIPE, text=True)
    try:
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/"
        print("refusal of an unsigned targets file of 5.0 MB, whole process")
        for title, document in hostile_documents().items():
            (metadata / "1.targets.json").write_bytes(document)
            client = [TUF_CLIENT, "--metadata-dir", folder / title]
            (folder / title).mkdir()
            subprocess.run([*client, "init", metadata / "1.root.json"], check=True)
            words = [*client, "--metadata-url", url, "refresh"]
            runs = [process(words, None, expected=1) for _ in range(rounds)]
            seconds, peaks = zip(*runs)
            print(f"  {title}: {spread(seconds, milliseconds)}; peak {max(peaks) / 1e6:.1f} MB; n = {rounds}", flush=True)
        print()
    finally:
        server.terminate()
        server.wait()


def rates(folder: Path, rounds: int) -> None:
    """The same signed document, written in three ways, read and canonicalised by both in memory."""
    file = json.loads((folder / "metadata/1.targets.json").read_bytes())
    backwards = {"signed": dict(reversed(file["signed"].items())), "signatures": file["signatures"]}
    for target in backwards["signed"]["targets"].values():
        target["length"] = target.pop("length")
    for title, text in (
        ("already canonical", json.dumps(file, separators=(",", ":"), sort_keys=True)),
        ("indented", json.dumps(file, indent=1, sort_keys=True)),
        ("keys in another order", json.dumps(backwards, separators=(",", ":"))),
    ):
        path = folder / "document.json"
        path.write_text(text)
        data = text.encode()
        words = [str(CANONICAL_RATE), str(rounds), str(path)]
        ours = [float(line) for line in subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()]
        theirs = []
        for _ in range(rounds):
            start = time.perf_counter()
            encode_canonical(json.loads(data)["signed"]).encode()
            theirs.append(time.perf_counter() - start)
        rate = lambda seconds: f"{len(data) / seconds / 1e6:.0f} MB/s"
        print(f"parse and canonicalise {len(data) / 1e6:.1f} MB, {title}")
        print(f"  sealift  {spread(ours, rate)}\n  json.loads + encode_canonical  {spread(theirs, rate)}")
        print(f"  ratio    {sorted(theirs)[rounds // 2] / sorted(ours)[rounds // 2]:.2f}; n = {rounds}\n", flush=True)


def run(rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="sealift-bench.") as name:
        folder = Path(name)
        refreshes(folder / "small", rounds * 2, 10)
        refreshes(folder / "large", rounds, 100_000)
        rates(folder / "large", rounds)
        refusals(folder / "hostile", rounds)


if __name__ == "__main__":
    serve(sys.argv[1])
