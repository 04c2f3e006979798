"""The servers that carried_test.py's clients reach: each on a port of loopback, each connection on a thread of its own."""

import hashlib
import os
import socket
import struct
import threading

SECRET = "what only the server knows"
MIB = 1 << 20


class Server:
    """`serve` has each connection on a thread of its own; `heard` counts them."""

    def __init__(self, serve, wrap=None):
        self.heard, self.ended = 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.serve, self.wrap = serve, wrap
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            self.heard += 1
            threading.Thread(target=self.one, args=(client,), daemon=True).start()

    def one(self, client):
        try:
            with (self.wrap(client) if self.wrap else client) as wrapped:
                self.serve(wrapped)
        except OSError:
            pass
        finally:
            self.ended += 1

    def close(self):
        self.listener.close()


def read_to_end(sock):
    got = b""
    while more := sock.recv(65536):
        got += more
    return got


def serve_http(sock):
    head = b""
    while b"\r\n\r\n" not in head:
        more = sock.recv(4096)
        if not more:
            return
        head += more
    sock.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(SECRET)}\r\nConnection: close\r\n\r\n{SECRET}".encode())


def serve_echo(sock):
    sock.sendall(read_to_end(sock))


def serve_with_reset(sock):
    sock.recv(100)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def receive(sock, size):
    got = b""
    while len(got) < size:
        more = sock.recv(size - len(got))
        if not more:
            raise ConnectionError("too early")
        got += more
    return got


class Bulk:
    """Takes and sends so many MiB at once, and says the hashes of both. The last byte that it sends says that all has come: a
    client that leaves before takes what is still on its way with it."""

    def __init__(self):
        self.sent, self.got = hashlib.sha256(), hashlib.sha256()
        self.count = 0

    def __call__(self, sock):
        size = struct.unpack(">I", receive(sock, 4))[0]

        def send():
            piece = os.urandom(MIB)
            try:
                for number in range(size):
                    mine = struct.pack(">I", number) + piece[4:]
                    self.sent.update(mine)
                    sock.sendall(mine)
            except OSError:  # a budget ended it
                pass

        thread = threading.Thread(target=send)
        thread.start()
        while more := sock.recv(65536):
            self.got.update(more)
            self.count += len(more)
        thread.join()
        sock.sendall(b"!")
