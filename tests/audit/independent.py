"""What a third party needs to check us, written from the specifications and with nothing of ours: signed notes, RFC 6962 proofs,
C2SP tiles, DSSE. Over python3-cryptography."""
import base64
import hashlib
import json
import pathlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def chain_problem(lines: list[bytes]) -> str:
    """Empty when every record seals the one before it (docs/audit.md)."""
    prev = "0" * 64
    for number, line in enumerate(lines, 1):
        record = json.loads(line)
        body = line[: line.rindex(b',"hash":"')] + b"}"
        if record["seq"] != number or record["prev"] != prev:
            return f"record {number} is not in its place"
        if hashlib.sha256(body).hexdigest() != record["hash"]:
            return f"record {number} was changed"
        prev = record["hash"]
    return ""


def public_key(vkey: str) -> tuple[str, bytes, Ed25519PublicKey]:
    name, number, encoded = vkey.strip().split("+", 2)
    key = base64.b64decode(encoded)
    assert key[0] == 1 and len(key) == 33
    key_id = sha256(name.encode() + b"\n" + key)[:4]
    assert key_id.hex() == number
    return name, key_id, Ed25519PublicKey.from_public_bytes(key[1:])


def open_checkpoint(note: str, vkey: str) -> tuple[int, bytes]:
    name, key_id, key = public_key(vkey)
    text, signatures = note.split("\n\n", 1)
    for line in signatures.splitlines():
        dash, signer, encoded = line.split(" ")
        assert dash == "\u2014"
        signature = base64.b64decode(encoded)
        if signer == name and signature[:4] == key_id:
            key.verify(signature[4:], (text + "\n").encode())
            origin, size, root = text.split("\n")[:3]
            assert origin == name
            return int(size), base64.b64decode(root)
    raise AssertionError("not signed by " + name)


def leaf(entry: bytes) -> bytes:
    return sha256(b"\0" + entry)


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right)


def root_of(leaves: list[bytes]) -> bytes:
    """RFC 6962, 2.1, as it is written there."""
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node(root_of(leaves[:split]), root_of(leaves[split:]))


def included(index: int, size: int, leaf_hash: bytes, proof: list[bytes], root: bytes) -> bool:
    """RFC 9162, 2.1.3.2."""
    fn, sn, r = index, size - 1, leaf_hash
    for p in proof:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = node(p, r)
            while fn & 1 == 0 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node(r, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r == root


def consistent(first: int, first_root: bytes, second: int, second_root: bytes, proof: list[bytes]) -> bool:
    """RFC 9162, 2.1.4.2."""
    path = list(proof)
    if first == second:
        return not path and first_root == second_root
    if first & (first - 1) == 0:
        path.insert(0, first_root)
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for c in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = node(c, fr), node(c, sr)
            while fn & 1 == 0 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node(sr, c)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and fr == first_root and sr == second_root


def tile_leaves(directory: pathlib.Path, size: int) -> list[bytes]:
    """The leaf hashes of a tlog-tiles directory."""
    data = b""
    for index in range((size + 255) // 256):
        width = min(256, size - 256 * index)
        name = f"{index % 1000:03}"
        rest = index // 1000
        while rest:
            name = f"x{rest % 1000:03}/{name}"
            rest //= 1000
        data += (directory / "tile/0" / (name if width == 256 else f"{name}.p/{width}")).read_bytes()
    assert len(data) == 32 * size
    return [data[i: i + 32] for i in range(0, len(data), 32)]


def open_envelope(text: str, pem: bytes) -> dict:
    """The statement of a DSSE envelope; InvalidSignature when it is not the key's."""
    envelope = json.loads(text)
    payload = base64.b64decode(envelope["payload"])
    kind = envelope["payloadType"]
    encoded = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
    key = load_pem_public_key(pem)
    key.verify(base64.b64decode(envelope["signatures"][0]["sig"]), encoded)
    return json.loads(payload)


__all__ = ["InvalidSignature", "chain_problem", "consistent", "included", "leaf", "open_checkpoint", "open_envelope", "public_key",
           "root_of", "tile_leaves"]
