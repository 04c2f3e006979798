"""A TLS 1.3 client that names one host in its first hello and another after a HelloRetryRequest.

retry_client.py HOST PORT SECOND_NAME BETWEEN
BETWEEN says what it sends between the two hellos; see kinds below. Prints "server: N" with the number of bytes that the
server said after the second hello: a server that went on says some hundreds, an alert is 7.
The client needs no cryptography: the server must believe a key share, not the client the server. Its share is the
generator of P-384, whose private key is 1.
"""
import socket
import struct
import sys

GENERATOR = bytes.fromhex(
    "04"
    "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7"
    "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f"
)
X25519, P384 = 0x001D, 0x0018
WARNING = b"\x15\x03\x03\x00\x02\x01\x5a"  # user_canceled
CHANGE_CIPHER_SPEC = b"\x14\x03\x03\x00\x01\x01"
EMPTY = b"\x16\x03\x03\x00\x00"


def sized(body, width):
    return len(body).to_bytes(width, "big") + body


def extension(kind, body):
    return struct.pack(">H", kind) + sized(body, 2)


def hello(name, group, share):
    extensions = extension(0, sized(b"\0" + sized(name.encode(), 2), 2))
    extensions += extension(10, sized(struct.pack(">HH", X25519, P384), 2))
    extensions += extension(13, sized(struct.pack(">HHH", 0x0403, 0x0804, 0x0401), 2))
    extensions += extension(43, b"\x02\x03\x04")
    extensions += extension(51, sized(struct.pack(">H", group) + sized(share, 2), 2))
    body = b"\x03\x03" + b"r" * 32 + sized(b"s" * 32, 1) + sized(b"\x13\x01\x13\x02", 2) + b"\x01\x00"
    return b"\x01" + sized(body + sized(extensions, 2), 3)


def record(fragment, kind=22, minor=3):
    return bytes([kind, 3, minor]) + sized(fragment, 2)


def second_flight(between, name):
    """What follows the HelloRetryRequest, by kind."""
    message = hello(name, P384, GENERATOR)
    kinds = {
        "nothing": record(message),
        "alert": WARNING + record(message),
        "alerts": WARNING * 3 + record(message),
        "change_cipher_spec": CHANGE_CIPHER_SPEC + record(message),
        "alert_and_change_cipher_spec": WARNING + CHANGE_CIPHER_SPEC + WARNING + record(message),
        "empty_record": EMPTY + record(message),
        "fragments": record(message[:1]) + record(message[1:3]) + record(message[3:]),
        "old_version": WARNING + record(message, minor=0),
        "by_bytes": WARNING + record(message),
    }
    return kinds[between]


def read_record(connection):
    head = read_exactly(connection, 5)
    return head[0], read_exactly(connection, int.from_bytes(head[3:], "big"))


def read_exactly(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise SystemExit("the server left")
        data += piece
    return data


def main():
    host, port, name, between = sys.argv[1:]
    connection = socket.create_connection((host, int(port)), timeout=20)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(record(hello(host, X25519, b"\x09" + bytes(31)), minor=1))
    kind, body = read_record(connection)
    print("retry:", kind == 22 and body[6:10] == bytes.fromhex("cf21ad74"), flush=True)
    if kind != 22:
        return
    flight = second_flight(between, name)
    for at in range(0, len(flight), 1 if between == "by_bytes" else len(flight)):
        connection.sendall(flight[at:] if between != "by_bytes" else flight[at : at + 1])
    heard = 0
    connection.settimeout(5)
    try:
        while heard < 200 and (piece := connection.recv(65536)):
            heard += len(piece)
    except OSError as error:
        print("error:", error)
    print("server:", heard)


main()
