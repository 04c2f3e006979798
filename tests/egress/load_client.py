"""The client's side of the load tests, run inside a jail: load_client.py WHAT HOST PORT [MARKER]"""
import hashlib
import http.client
import socket
import sys
import time

what, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
BLOCK = bytes(range(256)) * 4096
BLOCKS = 2048  # of 1 MiB each


def blocks():
    for number in range(BLOCKS):
        yield number.to_bytes(8, "big") + BLOCK[8:]


def many(count):
    """All of them at once: the server answers none before it has heard all."""
    sockets = [socket.create_connection((host, port)) for _ in range(count)]
    for number, one in enumerate(sockets):
        one.sendall(b"GET /%d HTTP/1.1\r\nHost: %s:%d\r\n\r\n" % (number, host.encode(), port))
    right = 0
    for number, one in enumerate(sockets):
        answer = b""
        while piece := one.recv(4096):
            answer += piece
        right += answer.endswith(b"\r\n\r\n/%d" % number)
    print("right answers:", right)


def never_read(count):
    sockets = [socket.create_connection((host, port)) for _ in range(count)]
    for one in sockets:
        one.sendall(b"GET /endless HTTP/1.1\r\nHost: %s:%d\r\n\r\n" % (host.encode(), port))
    for one in sockets:
        one.recv(1, socket.MSG_PEEK)
    time.sleep(1)  # for the server to run into all the buffers there are
    print("stuck", flush=True)
    time.sleep(3600)


def download():
    digest = hashlib.sha256()
    connection = http.client.HTTPConnection(host, port)
    connection.request("GET", "/")
    answer = connection.getresponse()
    while piece := answer.read(1 << 20):
        digest.update(piece)
    print(digest.hexdigest())


def upload():
    digest = hashlib.sha256()

    def watched():
        for block in blocks():
            digest.update(block)
            yield block

    connection = http.client.HTTPConnection(host, port)
    connection.request("PUT", "/", body=watched(), headers={"Content-Length": str(BLOCKS << 20)})
    print(connection.getresponse().read().decode(), digest.hexdigest())


{"many": lambda: many(500), "never_read": lambda: never_read(500), "download": download, "upload": upload}[what]()
