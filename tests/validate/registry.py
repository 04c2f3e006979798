"""verdaccio on loopback with packages made here, and registries that misbehave."""

import base64
import hashlib
import http.server
import io
import json
import socket
import subprocess
import tarfile
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

CONFIG = """storage: ./storage
auth: { htpasswd: { file: ./htpasswd, max_users: -1 } }
uplinks: {}
packages: { '**': { access: $all, publish: $anonymous } }
web: { enable: false }
log: { type: stdout, format: json, level: warn }
"""
NAME = "registry.test:4873"  # what jails call it
URL = f"http://{NAME}/"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def tarball(manifest, files=(), extra=()):
    """A package's .tgz; `extra` are TarInfo entries of any kind, with their content."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        everything = [("package.json", json.dumps(manifest)), *dict(files).items()]
        for path, text in everything:
            data = text.encode()
            info = tarfile.TarInfo(f"package/{path}")
            info.size, info.mode = len(data), 0o755
            archive.addfile(info, io.BytesIO(data))
        for info, data in extra:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def integrity(data):
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def locked(name, data, version="1.0.0", host=NAME, **fields):
    """The entry of a lock file."""
    return {"version": version, "resolved": f"http://{host}/{name}/-/{name.split('/')[-1]}-{version}.tgz",
            "integrity": integrity(data)} | fields


class Verdaccio:
    def __init__(self, npm, config=CONFIG):
        self.room = tempfile.TemporaryDirectory(prefix="validate-registry-")
        self.port = free_port()
        place = Path(self.room.name)
        (place / "config.yaml").write_text(config, encoding="utf-8")
        program = Path(npm) / "verdaccio/bin/verdaccio"
        if not program.exists():
            raise FileNotFoundError(f"{program}: run tools/npm_packages.sh")
        self.process = subprocess.Popen(
            ["node", str(program), "--config", "config.yaml", "--listen", f"127.0.0.1:{self.port}"], cwd=place,
            env={"PATH": "/usr/bin:/bin", "HOME": str(place)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        try:
            self.wait_until_it_listens()
        except BaseException:
            self.stop()
            raise
        self.token = "none"
        self.tarballs = {}
        self.with_scripts = set()

    @property
    def target(self):
        return f"127.0.0.1:{self.port}"

    def wait_until_it_listens(self):
        """It prints its address before it listens there, so the address alone says nothing."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 5).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.05)
        raise RuntimeError(f"verdaccio does not listen (exit code {self.process.poll()})")

    def publish(self, name, version="1.0.0", files=(), extra=(), **fields):
        manifest = {"name": name, "version": version} | fields
        data = tarball(manifest, files, extra)
        file_name = f"{name.split('/')[-1]}-{version}.tgz"
        dist = {"integrity": integrity(data), "shasum": hashlib.sha1(data).hexdigest(),
                "tarball": f"http://{self.target}/{name}/-/{file_name}"}
        document = {"_id": name, "name": name, "dist-tags": {"latest": version},
                    "versions": {version: manifest | {"dist": dist, "_id": f"{name}@{version}"}},
                    "_attachments": {file_name: {"content_type": "application/octet-stream", "length": len(data),
                                                 "data": base64.b64encode(data).decode()}}}
        request = urllib.request.Request(f"http://{self.target}/{name.replace('/', '%2f')}", json.dumps(document).encode(),
                                         {"content-type": "application/json", "authorization": f"Bearer {self.token}"}, method="PUT")
        with urllib.request.urlopen(request, timeout=60) as answer:
            if answer.status not in (200, 201):
                raise RuntimeError(f"publish {name}: {answer.status}")
        self.tarballs[name] = data
        if "postinstall" in fields.get("scripts", {}):
            self.with_scripts.add(name)

    def locked(self, name, **fields):
        """Its entry in a lock file, as npm would write it."""
        scripts = {"hasInstallScript": True} if name in self.with_scripts else {}
        return locked(name, self.tarballs[name], **(scripts | fields))

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.room.cleanup()


class Counting(http.server.ThreadingHTTPServer):
    """Passes on to a registry, counts, and may change what it answers."""

    daemon_threads = True

    def __init__(self, upstream, change=lambda path, data: data):
        self.heard = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.heard.append(self.path)
                request = urllib.request.Request(f"http://{upstream}{self.path}",
                                                 headers={"host": NAME, "accept": self.headers.get("accept", "*/*")})
                try:
                    with urllib.request.urlopen(request, timeout=60) as answer:
                        status, data, kind = answer.status, answer.read(), answer.headers.get("content-type", "")
                except urllib.error.HTTPError as error:
                    status, data, kind = error.code, error.read(), "application/json"
                data = change(self.path, data)
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.target = f"127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()


class Listener:
    """Accepts, counts, and says nothing: a service of the host, or a registry that never answers."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.target = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.port = self.socket.getsockname()[1]
        self.held = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                self.held.append(self.socket.accept()[0])
            except OSError:
                return

    @property
    def heard(self):
        return len(self.held)

    def stop(self):
        self.socket.close()
        for one in self.held:
            one.close()
