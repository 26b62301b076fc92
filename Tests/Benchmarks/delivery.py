"""A model from the registry to the device, and the question whether there is a newer one."""
import hashlib
import shutil
import subprocess
import sys

from measure import SEALIFT, Bench, process
from onnx_files import write_model

MODEL = "bench/model"


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


def run(bench: Bench, mebibytes: int) -> None:
    model = bench.folder / "model.onnx"
    write_model(model, mebibytes, 1)
    bench.run(["publish", model, "--model", MODEL, "--version", "1.0.0", "--channel", "stable"])
    with open(model, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    device, copy = bench.folder / "device", bench.folder / "copy"
    size = model.stat().st_size

    def clear() -> None:
        subprocess.run(["chmod", "-R", "u+w", device], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(device, ignore_errors=True)

    def fresh_sync(environment: dict | None = None) -> None:
        clear()
        bench.run(["sync", "--directory", device, "--model", f"{MODEL}@stable"], environment)

    url = f"{bench.url}blobs/sha256/{digest[:2]}/{digest}"
    fetch = ["curl", "-sS", "--cacert", str(bench.ca), "-o", str(copy), url]

    def curl() -> None:
        subprocess.run(fetch, check=True)

    def curl_then_sha256sum() -> None:
        subprocess.run(fetch, check=True)
        subprocess.run(["sha256sum", str(copy)], check=True, stdout=subprocess.DEVNULL)

    def curl_then_sync() -> None:
        subprocess.run(fetch, check=True)
        subprocess.run(["sync", str(copy)], check=True)

    rate = lambda seconds: f"{size / seconds / 1e6:.0f} MB/s"
    # Without synchronizing on either side: the library makes fsync and its like do nothing.
    unsynchronized = dict(bench.environment, LD_PRELOAD="libeatmydata.so")
    fresh_without = lambda: fresh_sync(unsynchronized)
    title = f"{mebibytes} MiB over TLS: fetched, verified, activated, nothing synchronized"
    bench.compare(
        title + " (ratio at least 2.5)", fresh_without, "curl -o f && sha256sum f", curl_then_sha256sum, rate
    )
    bench.compare(title + " (ratio at least 0.8)", fresh_without, "curl -o f (no check)", curl, rate)
    title = f"{mebibytes} MiB over TLS: fetched, verified, activated, synchronized (ratio at least 0.8)"
    bench.compare(title, fresh_sync, "curl -o f && sync f (no check)", curl_then_sync, rate)
    clear()
    sync = [SEALIFT, "sync", "--directory", device, "--model", f"{MODEL}@stable"]
    _, peak = process(sync, bench.environment)
    print(f"{mebibytes} MiB fetched: peak {peak / 1e6:.1f} MB of memory (under 64 MiB)\n", flush=True)
    environment = dict(bench.environment, SSL_CERT_FILE=str(bench.ca), REQUESTS_CA_BUNDLE=str(bench.ca))
    bench.compare(
        "nothing new, whole process (under 25 ms, ratio at least 10)", (sync, bench.environment),
        "python-tuf refresh", (python_tuf(bench), environment),
    )
