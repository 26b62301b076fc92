"""A TCP forwarder on loopback that cuts every connection after so many bytes from the server.

Usage: cut_proxy.py TARGET_PORT LIMIT. Prints its own port, serves until killed or 120 s have passed.
"""
import socket
import sys
import threading
import time

target, limit = int(sys.argv[1]), int(sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
listener.settimeout(120)
print(listener.getsockname()[1], flush=True)


def pump(source: socket.socket, sink: socket.socket, budget: int) -> None:
    try:
        while budget > 0 and (data := source.recv(min(16384, budget))):
            sink.sendall(data)
            budget -= len(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


end = time.monotonic() + 120
while time.monotonic() < end:
    try:
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", target))
    except OSError:
        break
    threading.Thread(target=pump, args=(client, server, 1 << 40), daemon=True).start()
    threading.Thread(target=pump, args=(server, client, limit), daemon=True).start()
