"""What a jailed tool does to try carried connections: carried_client.py DEED HOST PORT. What came of it is one line of JSON."""

import hashlib
import json
import os
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.request

DEED, HOST, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])
MIB = 1 << 20


def connect(host=HOST, port=PORT):
    return socket.create_connection((host, port), timeout=60)


def read_to_end(sock):
    got = b""
    while True:
        more = sock.recv(65536)
        if not more:
            return got
        got += more


def say(**what):
    print(json.dumps(what), flush=True)


def fetch():
    with urllib.request.urlopen(f"http://{HOST}:{PORT}/secret", timeout=60) as answer:
        say(got=answer.read().decode())


def http_for(name):
    sock = connect()
    sock.sendall(f"GET /secret HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
    say(got=read_to_end(sock).decode(errors="replace"))


def tls_for(name):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(connect(), server_hostname=name) as sock:
        sock.sendall(b"hello")
        say(got=sock.recv(100).decode())


def echo_many(count):
    """All are open before the first one speaks, as far as that goes."""
    failures = []
    gate = threading.Barrier(count)

    def one(number):
        try:
            sock = connect()
            text = f"connection {number} ".encode() * 500
            sock.sendall(text)
            sock.shutdown(socket.SHUT_WR)
            if read_to_end(sock) != text:
                failures.append(number)
            sock.close()
        except OSError as error:
            failures.append(f"{number}: {error}")

    def begin(number):
        gate.wait()
        one(number)

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say(count=count, failures=failures[:5])


def half_close():
    sock = connect()
    sock.sendall(b"all of it")
    sock.shutdown(socket.SHUT_WR)
    say(got=read_to_end(sock).decode())


def how_it_ends():
    sock = connect()
    sock.sendall(b"end it\n")
    try:
        say(got=read_to_end(sock).decode(), reset=False)
    except ConnectionResetError:
        say(reset=True)


def bulk(size):
    """Both ways at once, compared by hash. After all that it sends the server says that it has got everything."""
    sock = connect()
    sent, got = hashlib.sha256(), hashlib.sha256()
    piece = os.urandom(MIB)

    cut_off = []

    def send():
        try:
            for number in range(size):
                mine = struct.pack(">I", number) + piece[4:]
                sent.update(mine)
                sock.sendall(mine)
            sock.shutdown(socket.SHUT_WR)
        except OSError as error:
            cut_off.append(str(error))

    sock.sendall(struct.pack(">I", size))
    thread = threading.Thread(target=send)
    thread.start()
    count = 0
    while more := sock.recv(min(65536, max(size * MIB - count, 1))):
        if count == size * MIB:
            break
        got.update(more)
        count += len(more)
    thread.join()
    say(sent=sent.hexdigest(), got=got.hexdigest(), count=count)
    if cut_off:
        sys.exit(3)


def question(name, kind, number):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">HHHHHH", number, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", kind, 1)


def by_datagrams():
    """As musl asks: both families at once over one socket, and the answer must come from where the question went."""
    said = {}
    for name in (HOST, "other.test"):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.settimeout(30)
        for number, kind in ((1, 1), (2, 28)):
            sock.sendto(question(name, kind, number), ("127.0.0.1", 53))
        for _ in range(2):
            answer, sender = sock.recvfrom(4096)
            number, flags, _, records = struct.unpack(">HHHH", answer[:8])
            said[f"{name} {'A' if number == 1 else 'AAAA'}"] = [flags & 15, records, sender[0],
                                                               ".".join(str(byte) for byte in answer[-4:]) if records else ""]
    say(**said)


def own_loopback():
    """What is the tool's own stays so, also at a port that is allowed elsewhere."""
    listener = socket.create_server(("127.0.0.1", PORT))
    threading.Thread(target=lambda: listener.accept()[0].sendall(b"mine"), daemon=True).start()
    got = connect("127.0.0.1", PORT).recv(10).decode()
    try:
        connect("127.0.0.1", PORT + 1)
        refused = False
    except ConnectionRefusedError:
        refused = True
    say(got=got, refused=refused)


def by_address(then_leave):
    """An address that nobody looked up."""
    try:
        sock = connect("127.64.0.1")
        if then_leave:
            os._exit(3)
        sock.sendall(b"hello")
        say(got=read_to_end(sock).decode())
    except OSError as error:
        say(error=str(error))
        sys.exit(3)


def hold():
    sock = connect()
    sock.sendall(b"holding\n")
    say(holding=True)
    time.sleep(600)


def time_download(size):
    sock = connect()
    sock.sendall(struct.pack(">I", size))
    sock.shutdown(socket.SHUT_WR)
    begin, count = time.monotonic(), 0
    while more := sock.recv(1 << 20):
        count += len(more)
    say(count=count, seconds=time.monotonic() - begin)


DEEDS = {
    "fetch": fetch,
    "http_other": lambda: http_for("other.test"),
    "http_same": lambda: http_for(HOST),
    "tls_other": lambda: tls_for("other.test"),
    "tls_same": lambda: tls_for(HOST),
    "echo_one": lambda: echo_many(1),
    "echo_many": lambda: echo_many(100),
    "half_close": half_close,
    "how_it_ends": how_it_ends,
    "bulk": lambda: bulk(20),
    "by_datagrams": by_datagrams,
    "own_loopback": own_loopback,
    "by_address": lambda: by_address(False),
    "by_address_and_leave": lambda: by_address(True),
    "hold": hold,
    "time_download": lambda: time_download(int(os.environ.get("SIZE", "100"))),
}
DEEDS[DEED]()
