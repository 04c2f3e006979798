"""The repos the jobs work on, and a registry on a loopback address to install from."""

import base64
import hashlib
import io
import json
import shutil
import socket
import subprocess
import tarfile
import time
import urllib.request
from pathlib import Path

TEXT = "".join(f"line {line} of a file nobody reads for pleasure\n" for line in range(40))
PACKAGES = 40
# Not 127.0.0.1: sandbox-runtime keeps that one from its own proxy.
ADDRESS = "127.0.0.2"
CACHE = "/tmp/sallyport-bench-npm-cache"  # private where /tmp is; else it is removed before each run


def tree(root, files):
    """Files of about 2 KiB, fifty to a directory. Made once: 100,000 of them take a while."""
    done = root.parent / f"{root.name}.made"
    if done.exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    for index in range(files):
        place = root / f"d{index // 50:04}"
        if index % 50 == 0:
            place.mkdir(parents=True)
        (place / f"f{index:06}.txt").write_text(f"{TEXT}{index}\n")
    done.write_text("")
    return root


def git_repo(root, files):
    if (root / ".git").exists():
        return root
    tree(root, files)
    git = ["git", "-C", str(root), "-c", "user.name=bench", "-c", "user.email=bench@example.test"]
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "made"]):
        subprocess.run(git + arguments, check=True)
    # Files as young as the index are read again by every status; a jail's repo is read-only, so settle that now.
    time.sleep(2)
    subprocess.run(git + ["status", "--short"], check=True, capture_output=True)
    return root


def tarball(name):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for file, content in {"package.json": json.dumps({"name": name, "version": "1.0.0"}),
                              **{f"lib/part{part}.js": TEXT for part in range(20)}}.items():
            info = tarfile.TarInfo(f"package/{file}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content.encode()))
    return packed.getvalue()


class Registry:
    """verdaccio, as the tests install it, with PACKAGES packages and no way to any other registry."""

    PROGRAM = "npm/node_modules/verdaccio/bin/verdaccio"  # below build/

    @classmethod
    def installed(cls, build):
        return (build / cls.PROGRAM).exists()

    def __init__(self, build, place):
        self.program = build / self.PROGRAM
        self.place = place
        with socket.socket() as probe:
            probe.bind((ADDRESS, 0))
            self.host = f"{ADDRESS}:{probe.getsockname()[1]}"
        self.url = f"http://{self.host}/"

    def __enter__(self):
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)
        (self.place / "config.yaml").write_text(
            "storage: ./storage\nauth: { htpasswd: { file: ./htpasswd, max_users: -1 } }\nuplinks: {}\n"
            "packages: { '**': { access: $all, publish: $anonymous } }\nweb: { enable: false }\n"
            "log: { type: stdout, format: json, level: warn }\n")
        command = ["/usr/bin/node", self.program, "--config", self.place / "config.yaml", "--listen", self.host]
        self.process = subprocess.Popen(command, cwd=self.place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait()
        for index in range(PACKAGES):
            self.publish(f"made-{index}")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def wait(self):
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{self.url}-/ping").read()
                return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError("verdaccio does not answer")

    def publish(self, name):
        packed = tarball(name)
        file = f"{name}-1.0.0.tgz"
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()
        version = {"name": name, "version": "1.0.0", "_id": f"{name}@1.0.0",
                   "dist": {"integrity": integrity, "shasum": hashlib.sha1(packed).hexdigest(),
                            "tarball": f"{self.url}{name}/-/{file}"}}
        body = {"_id": name, "name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version},
                "_attachments": {file: {"content_type": "application/octet-stream", "length": len(packed),
                                        "data": base64.b64encode(packed).decode()}}}
        request = urllib.request.Request(self.url + name, json.dumps(body).encode(), method="PUT",
                                         headers={"Content-Type": "application/json", "Authorization": "Bearer none"})
        urllib.request.urlopen(request).read()


def npm_project(root, registry):
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    wanted = {f"made-{index}": "1.0.0" for index in range(PACKAGES)}
    (root / "package.json").write_text(json.dumps({"name": "theirs", "version": "1.0.0", "dependencies": wanted}))
    subprocess.run(npm("install", registry.url) + ["--package-lock-only"], cwd=root, check=True, capture_output=True)
    return root


def npm(verb, url):
    return ["npm", verb, "--ignore-scripts", "--registry", url, "--replace-registry-host=always", "--cache", CACHE,
            "--no-audit", "--no-fund", "--fetch-retries=0", "--loglevel=error"]
