"""python-tuf's own client, run against a folder of static files.

    tuf_client.py REPOSITORY STATE ROOT TARGET...

Serves REPOSITORY on loopback, starts from the file ROOT with STATE as its
metadata folder, refreshes, and downloads each TARGET. Prints one JSON object:
what it trusts, or the exception by which it refused.
"""
import functools
import http.server
import json
import os
import signal
import sys
import tempfile
import threading

from tuf.api.exceptions import DownloadError, RepositoryError
from tuf.ngclient import Updater


class Quiet(http.server.SimpleHTTPRequestHandler):
    requested = []

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.requested.append(self.path)
        super().do_GET()


def main():
    signal.alarm(60)
    repository, state, root, *wanted = sys.argv[1:]
    handler = functools.partial(Quiet, directory=repository)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    os.makedirs(state, exist_ok=True)
    with open(root, "rb") as file:
        bootstrap = file.read()
    answer = {"targets": {}}
    try:
        with tempfile.TemporaryDirectory() as folder:
            updater = Updater(
                state, f"{base}/metadata/", folder, f"{base}/targets/", bootstrap=bootstrap
            )
            updater.refresh()
            for path in wanted:
                info = updater.get_targetinfo(path)
                if info is None:
                    answer["targets"][path] = None
                    continue
                with open(updater.download_target(info), "rb") as file:
                    answer["targets"][path] = file.read().decode()
    except (RepositoryError, DownloadError) as error:
        answer["refused"] = type(error).__name__
        answer["reason"] = str(error)
    trusted = sorted(name for name in os.listdir(state) if name.endswith(".json"))
    answer["versions"] = {}
    for name in trusted:
        with open(os.path.join(state, name), "rb") as file:
            answer["versions"][name] = json.load(file)["signed"]["version"]
    answer["requests"] = Quiet.requested
    json.dump(answer, sys.stdout)


main()
