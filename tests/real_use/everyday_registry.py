#!/usr/bin/python3
"""A private registry: npm installs with the operator's token and never sees it (--registry-auth). See everyday.py.

registry.test is TLS in front of verdaccio with a private package; some paths of it misbehave. Each attack has its control: the same
request shows the token where nobody keeps it back.
"""

import gzip
import json
import os
import socket
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

import everyday
from everyday_network import Certificates, Server, head_of, pump

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "validate"))
import registry  # noqa: E402  pylint: disable=wrong-import-position

NPM = Path(__file__).resolve().parents[2] / "build/npm/node_modules"
CONFIG = registry.CONFIG.replace("max_users: -1", "max_users: 9").replace(
    "packages: {", "packages: { '@private/*': { access: $authenticated, publish: $authenticated },")
# Prints what one request gets, as far as it goes; further words are header fields.
ASK = """import http.client, sys
host, method, target = sys.argv[1:4]
link = http.client.HTTPConnection(host, timeout=20)
link.putrequest(method, target, skip_accept_encoding=True)
for field in sys.argv[4:]: link.putheader(*field.split('=', 1))
link.endheaders()
try:
    answer = link.getresponse()
    print(answer.status, answer.getheaders(), answer.read())
except (OSError, http.client.HTTPException) as error: print('cut', error, getattr(error, 'partial', b''))
"""
# Everything of the tool's own world that could hold a secret.
SEARCH = """import os, sys
needle, found = sys.argv[1].encode()[::-1], []
for name in os.listdir('/proc'):
    if not name.isdigit() or int(name) == os.getpid(): continue
    for part in ('environ', 'cmdline'):
        try: text = open(f'/proc/{name}/{part}', 'rb').read()
        except OSError: continue
        if needle in text: found.append((name, part))
found += [name for name, value in os.environb.items() if needle in value]
for folder, _, names in os.walk(os.environ['HOME']):
    for name in names:
        try: text = open(os.path.join(folder, name), 'rb').read()
        except OSError: continue
        if needle in text: found.append(name)
print('found', found)
"""


class Registry(everyday.Everyday, Certificates):
    """The operator's .npmrc names https://registry.test/ and holds a token for it."""

    @classmethod
    def setUpClass(cls):
        cls.verdaccio = registry.Verdaccio(NPM, CONFIG)
        cls.addClassCleanup(cls.verdaccio.stop)  # also when the rest of this fails
        body = json.dumps({"name": "operator", "password": "a-long-password"}).encode()
        request = urllib.request.Request(f"http://{cls.verdaccio.target}/-/user/org.couchdb.user:operator", body,
                                         {"content-type": "application/json"}, method="PUT")
        with urllib.request.urlopen(request, timeout=60) as answer:
            cls.verdaccio.token = json.load(answer)["token"]
        cls.token = cls.verdaccio.token
        cls.verdaccio.publish("@private/thing", files={"index.js": "module.exports = 'private'\n"})

    def setUp(self):
        super().setUp()
        self.make_certificates("registry.test")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.root / "server.pem", self.root / "server.key")
        self.heads, self.others = [], []
        self.tls = Server(lambda plain: self.serve(context, plain))
        self.plain = Server(self.pass_on)
        self.other = Server(self.answer_other)
        for server in (self.tls, self.plain, self.other):
            self.addCleanup(server.close)
        self.npmrc(f"registry=https://registry.test/\n//registry.test/:_authToken={self.token}\n")
        (self.repo / "package.json").write_text('{"name": "theirs", "version": "1.0.0", "dependencies": {"@private/thing": "1.0.0"}}',
                                                encoding="utf-8")
        self.hosts = ("--allow-host", f"registry.test=127.0.0.1:{self.tls.port}", "--ca", self.root / "ca.pem")

    def npmrc(self, text):
        (self.home / ".npmrc").write_text(text, encoding="utf-8")

    def serve(self, context, plain):
        with context.wrap_socket(plain, server_side=True) as client:
            self.pass_on(client, "x-forwarded-proto: https\r\n")

    def pass_on(self, client, more=""):
        head = head_of(client)
        self.heads.append(head)
        target = head.split(" ")[1]
        answer = self.odd_answer(target, head)
        if answer is not None:
            client.sendall(answer)
            return
        with socket.create_connection(("127.0.0.1", self.verdaccio.port)) as upstream:
            upstream.sendall(head[:-2].encode() + more.encode() + b"\r\n")
            pump(upstream, client)

    def odd_answer(self, target, head):
        """Paths of the registry that misbehave."""
        body = head.encode()
        plain = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n%s"
        if target == "/echo":
            return plain % (len(body), b"", body)
        if target == "/echo-in-fields":
            secret = next(line for line in head.split("\r\n") if line.startswith("Authorization")).encode()
            return plain % (2, b"X-" + secret + b"\r\nETag: \"" + secret + b"\"\r\nSet-Cookie: session=1\r\nLast-Modified: x\r\n", b"ok")
        if target == "/echo-in-chunks":
            return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"".join(
                b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
        if target == "/echo-packed":
            packed = gzip.compress(body)
            return plain % (len(packed), b"Content-Encoding: gzip\r\n", packed)
        if target == "/away":
            return b"HTTP/1.1 302 Found\r\nLocation: http://other.test:8080/there\r\nContent-Length: 0\r\n\r\n"
        if target == "/back":
            return b"HTTP/1.1 302 Found\r\nLocation: https://registry.test/-/ping\r\nContent-Length: 0\r\n\r\n"
        return None

    def answer_other(self, client):
        self.others.append(head_of(client))
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nother")

    def call(self, *tool, options=(), jail="native", env=None, auth=("--registry-auth",)):
        words = [everyday.SALLYPORT, "run", "--json", "--jail", jail, "--repo", self.repo, "--writable-repo", "--timeout", "120s",
                 *auth, *self.hosts, *options, "--", *tool]
        ran = subprocess.run([str(word) for word in words], cwd=self.repo, env=self.env() | (env or {}), stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=200, check=False)
        return json.loads(ran.stdout)

    def plan(self, *options, env=None):
        words = [str(everyday.SALLYPORT), "explain", "--json", *options, "--", "npm", "ci"]
        explained = subprocess.run(words, cwd=self.repo, env=self.env() | (env or {}), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=200, check=False)
        self.assertEqual(explained.returncode, 0, explained.stderr)
        return json.loads(explained.stdout)["plan"]

    def ask(self, target, *fields, method="GET", host="registry.test", options=()):
        return self.call("python3", "-c", ASK, host, method, target, *fields, options=(*self.policy("python", "node"), *options))

    def tokens_heard(self):
        return [head for head in self.heads if self.token in head]

    def installed(self):
        return (self.repo / "node_modules/@private/thing/index.js").exists()

    # What it is for.

    def test_npm_installs_a_private_package_and_never_sees_the_token(self):
        record = self.call("npm", "install")
        self.assertEqual((record["outcome"], record.get("exit_code"), record["denials"]), ("completed", 0, []), record)
        self.assertTrue(self.installed())
        self.assertTrue(self.tokens_heard())
        lock = (self.repo / "package-lock.json").read_text(encoding="utf-8")
        self.assertIn('"https://registry.test/@private/thing/-/thing-1.0.0.tgz"', lock)
        for text in (json.dumps(record), lock, *self.written()):
            self.assertNotIn(self.token, text)
        self.bare("rm", "-rf", "node_modules")
        again = self.call("npm", "ci")
        self.assertEqual((again.get("exit_code"), self.installed()), (0, True), again)

    def written(self):
        """Every file that the program itself left in the operator's home, the audit log above all."""
        for folder, _, names in os.walk(self.home):
            for name in names:
                if name != ".npmrc":
                    yield Path(folder, name).read_text(encoding="utf-8", errors="replace")

    def test_without_the_option_the_package_cannot_be_had(self):
        """The control of the token: the very same install, asked for without it."""
        record = self.call("npm", "install", auth=("--allow-registry",))
        self.assertNotEqual(record.get("exit_code"), 0, record)
        self.assertFalse(self.installed())
        self.assertEqual(self.tokens_heard(), [])

    def test_a_plain_registry_in_every_jail(self):
        self.npmrc(f"registry=http://registry.test:4873/\n//registry.test:4873/:_authToken={self.token}\n")
        self.hosts = ("--allow-host", f"registry.test:4873=127.0.0.1:{self.plain.port}")
        for jail in ("native", "bwrap", "landlock"):
            self.bare("rm", "-rf", "node_modules", "package-lock.json")
            record = self.call("npm", "install", jail=jail)
            self.assertEqual((record.get("exit_code"), self.installed()), (0, True), record)

    def test_explain_says_for_whom_and_not_what(self):
        explained = self.sallyport("explain", "--json", "--repo", self.repo, "--registry-auth", *self.hosts, "--", "npm", "ci")
        plan = json.loads(explained.stdout)["plan"]
        self.assertEqual(plan["registry_auth"], "https://registry.test/")
        self.assertIn("--registry=http://registry.test/", plan["argv"])
        self.assertNotIn(self.token, explained.stdout + explained.stderr)

    def test_the_token_of_a_variable_and_a_user_with_password(self):
        self.npmrc("registry=https://registry.test/\n//registry.test/:_authToken=${OPERATORS_TOKEN}\n")
        record = self.call("npm", "install", env={"OPERATORS_TOKEN": self.token})
        self.assertTrue(self.installed(), record)
        self.assertIn("OPERATORS_TOKEN, which is not set", self.call("npm", "ci")["error"]["message"])

    def test_a_build_services_npmrc_is_the_one_that_npm_would_read(self):
        """Build services write a .npmrc of their own, name it in the environment, and the token in another variable."""
        (self.home / ".npmrc").unlink()
        file = self.root / "service.npmrc"
        file.write_text("//registry.test/:_authToken=${NODE_AUTH_TOKEN}\nregistry=https://registry.test/\n", encoding="utf-8")
        named = {"NPM_CONFIG_USERCONFIG": str(file), "NODE_AUTH_TOKEN": self.token}
        record = self.call("npm", "install", "--no-audit", "--no-fund", env=named)
        self.assertEqual(record.get("exit_code"), 0, record)
        self.assertTrue(self.installed())
        self.assertNotIn(self.token, json.dumps(record))
        self.assertIn("no .npmrc", self.call("npm", "ping")["error"]["message"])
        # Without credentials too; a registry that the environment names outright comes first.
        plan = self.plan("--allow-registry", env=named)
        self.assertIn("--registry=https://registry.test/", plan["argv"])
        plan = self.plan("--allow-registry", env=named | {"NPM_CONFIG_REGISTRY": "https://other.test/"})
        self.assertIn("--registry=https://other.test/", plan["argv"])
        # A package manager sets this one for a script, from the project's own configuration.
        plan = self.plan("--allow-registry", env=named | {"npm_config_registry": "https://theirs.test/"})
        self.assertIn("--registry=https://registry.test/", plan["argv"])
        (self.repo / "theirs.npmrc").write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
        theirs = self.call("npm", "ping", env=named | {"NPM_CONFIG_USERCONFIG": str(self.repo / "theirs.npmrc")})
        self.assertIn("lies in the analysed repo", theirs["error"]["message"])

    def test_the_repos_own_npmrc_has_no_say(self):
        (self.repo / ".npmrc").write_text("//registry.test/:_authToken=of-a-stranger\nreplace-registry-host=never\n", encoding="utf-8")
        record = self.call("npm", "install")
        self.assertTrue(self.installed(), record)
        self.assertNotIn("of-a-stranger", "".join(self.heads))
        self.npmrc("registry=https://registry.test/\n")
        refused = self.call("npm", "install")
        self.assertIn("no credentials for //registry.test/", refused["error"]["message"])

    def test_validate_takes_it_too(self):
        self.call("npm", "install", "--package-lock-only")
        self.heads.clear()
        options = ("--registry", f"http://registry.test:4873=127.0.0.1:{self.plain.port}", "--lock-host", "registry.test")
        self.npmrc(f"//registry.test:4873/:_authToken={self.token}\n")
        bare = self.sallyport("validate", self.repo, "--json", *options)
        self.assertEqual((json.loads(bare.stdout)["verdict"], self.tokens_heard()), ("failed", []), bare.stdout)
        ran = self.sallyport("validate", self.repo, "--json", "--registry-auth", *options)
        stages = {stage["name"]: stage["state"] for stage in json.loads(ran.stdout)["stages"]}
        self.assertEqual(stages["fetch"], "passed", ran.stdout)
        self.assertTrue(self.tokens_heard())
        self.assertNotIn(self.token, ran.stdout + ran.stderr)

    # What a tool may try.

    def test_nothing_of_the_tools_world_holds_the_token(self):
        """The control: the same search finds it in a variable of a bare run."""
        mirrored = self.token[::-1]  # so that the search does not find its own argument
        options = self.policy("python", "node")
        record = self.call("python3", "-c", SEARCH, mirrored, options=options)
        self.assertEqual(record.get("stdout"), "found []\n", record)
        bare = subprocess.run(["python3", "-c", SEARCH, mirrored], env=self.env() | {"TOKEN": self.token}, capture_output=True,
                              text=True, check=True)
        self.assertIn("TOKEN", bare.stdout)
        self.assertIn(".npmrc", bare.stdout)

    def test_another_host_gets_no_token(self):
        more = ("--allow-host", f"other.test:8080=127.0.0.1:{self.other.port}")
        self.assertIn("200", self.ask("/", host="other.test:8080", options=more)["stdout"])
        self.assertEqual(len(self.others), 1)
        self.assertNotIn(self.token, self.others[0])
        # A request to the registry's address with another Host: refused, and no server receives it.
        record = self.ask("/-/ping", "Host=other.test", options=more)
        self.assertNotIn("200", record.get("stdout", "")[:4], record)
        self.assertEqual((len(self.others), self.heads), (1, []))
        self.assertTrue(self.ask("/-/ping")["stdout"].startswith("200"))
        self.assertEqual(len(self.tokens_heard()), 1)  # the control: the registry does get it

    def test_a_redirect_is_not_followed_with_the_token(self):
        record = self.ask("/away")
        self.assertIn("302", record["stdout"])
        self.assertIn("http://other.test:8080/there", record["stdout"])
        self.assertEqual(self.others, [])  # nobody followed it but the tool could
        follow = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=20).read())"
        more = (*self.policy("python", "node"), "--allow-host", f"other.test:8080=127.0.0.1:{self.other.port}")
        self.assertIn("other", self.call("python3", "-c", follow, "http://registry.test/away", options=more)["stdout"])
        self.assertEqual(len(self.others), 1)
        self.assertNotIn(self.token, self.others[0])
        self.assertNotIn("uthorization", self.others[0])
        # One that leads back leads to the endpoint, and so to the token again.
        self.call("python3", "-c", follow, "http://registry.test/back", options=more)
        self.assertTrue(self.heads[-1].startswith("GET /-/ping "))
        self.assertIn(self.token, self.heads[-1])

    def test_an_echo_does_not_show_it(self):
        for path in ("/echo", "/echo-in-chunks", "/echo-in-fields", "/echo-packed"):
            record = self.ask(path)
            self.assertNotIn(self.token, json.dumps(record), path)
            self.assertIn(self.token, self.heads[-1])  # it was sent, and the echo would have shown it
        self.assertIn("credentials in the answer", json.dumps(self.ask("/echo")["denials"]))
        fields = self.ask("/echo-in-fields")["stdout"]
        self.assertIn("200", fields)
        self.assertIn("Last-Modified", fields)
        self.assertNotIn("ookie", fields)
        # In pieces: the field that would ask for them is not sent on.
        self.ask("/-/ping", "Range=bytes=0-9", "X-HTTP-Method-Override=DELETE", "Authorization=Bearer of-the-tool")
        for word in ("Range", "Override", "of-the-tool"):
            self.assertNotIn(word, self.heads[-1])
        # The control: asked without us, the same path shows what it was sent.
        context = ssl.create_default_context(cafile=self.root / "ca.pem")
        context.check_hostname = False
        request = urllib.request.Request(f"https://127.0.0.1:{self.tls.port}/echo", headers={"Authorization": self.token})
        with urllib.request.urlopen(request, context=context, timeout=20) as answer:
            self.assertIn(self.token, answer.read().decode())

    def test_only_reading_and_only_packages(self):
        for method, target in (("PUT", "/@private%2fthing"), ("DELETE", "/@private%2fthing"), ("POST", "/-/npm/v1/tokens"),
                               ("GET", "/-/whoami"), ("GET", "/-/npm/v1/tokens"), ("GET", "/%2d/whoami"), ("GET", "//-/whoami"),
                               ("GET", "/x/../-/whoami"), ("GET", "/x/%2e%2e/-/whoami"), ("GET", "/%252d/whoami"),
                               ("GET", "/-/user/org.couchdb.user:operator")):
            record = self.ask(target, method=method)
            self.assertFalse(record.get("stdout", "").startswith("200"), (method, target, record))
        self.assertEqual(self.heads, [])
        self.assertTrue(self.ask("/@private%2fthing")["stdout"].startswith("200"))  # the control
        self.assertEqual(len(self.tokens_heard()), 1)

    def test_a_registry_that_cannot_prove_itself_gets_no_token(self):
        self.hosts = self.hosts[:2]  # without the company's certificate
        record = self.call("npm", "install")
        self.assertNotEqual(record.get("exit_code"), 0)
        self.assertIn("certificate is not trusted", json.dumps(record["events"]))
        self.make_certificates("elsewhere.test", server="wrong")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.root / "wrong.pem", self.root / "wrong.key")
        wrong = Server(lambda plain: self.serve(context, plain))
        self.addCleanup(wrong.close)
        self.hosts = ("--allow-host", f"registry.test=127.0.0.1:{wrong.port}", "--ca", self.root / "ca.pem")
        self.assertIn("certificate is not trusted", json.dumps(self.call("npm", "install")["events"]))
        self.assertEqual(self.heads, [])


if __name__ == "__main__":
    everyday.main()
