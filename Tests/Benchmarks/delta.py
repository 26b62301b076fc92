"""Bytes that an update brings over the network, lists and indexes included, beside casync and zsync.

Three changes of one file of random bytes: runs of 64 KiB, runs of 1 KiB, each 1 % of the file, and 100 bytes
inserted at the front. Every tool has the old file and rebuilds the new one, which is compared.
"""
import json
import os
import random
import re
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from measure import Bench

MODEL = "bench/delta"


class RangeServer:
    """Serves a folder, parts of files too, several in one answer, and counts the bytes of bodies."""

    def __init__(self, folder: Path) -> None:
        outer = self
        self.sent = 0

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                data = (folder / self.path.lstrip("/")).read_bytes()
                wanted = re.findall(r"(\d+)-(\d+)", self.headers.get("Range", ""))
                parts = [(int(first), min(int(last), len(data) - 1)) for first, last in wanted]
                if not parts:
                    status, kind, body = 200, "application/octet-stream", data
                elif len(parts) == 1:
                    first, last = parts[0]
                    status, kind, body = 206, "application/octet-stream", data[first : last + 1]
                else:
                    status, kind = 206, "multipart/byteranges; boundary=PART"
                    body = b"".join(
                        b"\r\n--PART\r\nContent-Range: bytes %d-%d/%d\r\n\r\n" % (first, last, len(data))
                        + data[first : last + 1]
                        for first, last in parts
                    ) + b"\r\n--PART--\r\n"
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                if len(parts) == 1:
                    self.send_header("Content-Range", f"bytes {parts[0][0]}-{parts[0][1]}/{len(data)}")
                self.end_headers()
                self.wfile.write(body)
                outer.sent += len(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def casync(folder: Path, old: Path, new: Path) -> int:
    """The new chunks as they are stored, and the index."""
    store = folder / "store.castr"

    def chunks() -> dict[str, int]:
        return {path.name: path.stat().st_size for path in store.rglob("*.cacnk")}

    for name, file in (("old", old), ("new", new)):
        before = chunks() if store.exists() else {}
        subprocess.run(
            ["casync", "make", "--store", store, folder / f"{name}.caibx", file],
            check=True, stdout=subprocess.DEVNULL,
        )
    after = chunks()
    fetched = sum(size for name, size in after.items() if name not in before)
    return fetched + (folder / "new.caibx").stat().st_size


def zsync(folder: Path, old: Path, new: Path) -> int:
    """The bodies of all answers, the control file among them."""
    server = RangeServer(folder)
    try:
        subprocess.run(
            ["zsyncmake", "-o", folder / "new.zsync", "-u", new.name, new], check=True, stderr=subprocess.DEVNULL
        )
        out = folder / "zsync.out"
        subprocess.run(
            ["zsync", "-q", "-i", old, "-o", out, f"{server.url}new.zsync"],
            check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        if subprocess.run(["cmp", "-s", out, new], check=False).returncode:
            raise SystemExit("bench: zsync rebuilt another file")
        return server.sent
    finally:
        server.close()


def sealift(bench: Bench, name: str, old: Path, new: Path) -> int:
    device = bench.folder / f"device-{name}"
    fetched = 0
    card = bench.folder / "opaque.json"
    card.write_text(json.dumps({"type": "sealift/card@1", "variants": {"default": {"format": "opaque"}}}))
    for version, file in (("1.0.0", old), ("2.0.0", new)):
        folder = bench.folder / f"publish-{name}"
        folder.mkdir()
        os.link(file, folder / "weights.bin")
        bench.run(
            ["publish", folder, "--model", f"{MODEL}-{name}", "--version", version, "--channel", "stable",
             "--card", card]
        )
        shutil.rmtree(folder)
        report = json.loads(
            bench.run(["sync", "--directory", device, "--model", f"{MODEL}-{name}@stable", "--json"])
        )
        fetched = report["bytes_fetched"]
    path = bench.run(["path", f"{MODEL}-{name}", "--directory", device, "--file", "weights.bin"]).split("\n")[0]
    if subprocess.run(["cmp", "-s", path, new], check=False).returncode:
        raise SystemExit("bench: sealift rebuilt another file")
    subprocess.run(["chmod", "-R", "u+w", device], check=False)
    shutil.rmtree(device)
    return fetched


def changed(old: bytes, run: int, seed: int) -> bytes:
    """1 % of the file in runs of so many bytes, at places that follow no block."""
    new, source = bytearray(old), random.Random(seed)
    for _ in range(max(1, len(old) // 100 // run)):
        start = source.randrange(len(old) - run)
        new[start : start + run] = source.randbytes(run)
    return bytes(new)


def run(bench: Bench, mebibytes: int) -> None:
    old = random.Random(1).randbytes(1 << 20) + os.urandom((mebibytes - 1) << 20)
    cases = [
        ("64k", "1 % changed in runs of 64 KiB", lambda: changed(old, 64 << 10, 2), "at most casync's"),
        ("1k", "1 % changed in runs of 1 KiB", lambda: changed(old, 1 << 10, 3), "not gated"),
        ("insert", "100 bytes inserted at the front", lambda: os.urandom(100) + old, "not gated"),
    ]
    for name, title, make, gate in cases:
        folder = bench.folder / f"delta-{name}"
        folder.mkdir()
        files = folder / "old.bin", folder / "new.bin"
        files[0].write_bytes(old)
        files[1].write_bytes(make())
        print(f"{mebibytes} MiB, {title}: bytes fetched, lists included ({gate})")
        for tool, fetched in (
            ("sealift", sealift(bench, name, *files)),
            ("casync", casync(folder, *files)),
            ("zsync", zsync(folder, *files)),
        ):
            print(f"  {tool:8}{fetched / 1e6:8.2f} MB", flush=True)
        print()
        shutil.rmtree(folder)
