"""A repository on plain HTTP, for one client under test; the standard library alone.

    serve.py FOLDER PREFIX

Prints its port. Answers `GET PREFIX/NAME` with FOLDER/files/NAME, where NAME is
taken from the request exactly as it was sent: nothing is decoded, so a client
that encodes otherwise finds nothing. A name that is not there as sent is looked
up decoded, as a file server would. Every request's name is appended to
FOLDER/requests. A file NAME.endless is followed by bytes without end.
"""
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

folder, prefix = sys.argv[1:]
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        name = self.path[len(prefix):] if self.path.startswith(prefix) else "outside:" + self.path
        with lock, open(os.path.join(folder, "requests"), "a", encoding="utf-8") as log:
            log.write(name + "\n")
        files = os.path.join(folder, "files")
        for candidate in (name, unquote(name)):
            path = files + candidate
            if os.path.isfile(path):
                with open(path, "rb") as opened:
                    return self.answer(opened.read())
            if os.path.isfile(path + ".endless"):
                return self.endless()
        return self.send_error(404)

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def endless(self):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                self.wfile.write(b" " * 65536)
        except OSError:
            pass

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
