"""Checkpoints, proofs and attestations, checked by an implementation that is not ours (C39)."""
import base64
import hashlib
import json
import shutil
import subprocess

import independent
from audit_case import AuditCase, main

HELLO = hashlib.sha256(b"hello\n").hexdigest()


class Keyed(AuditCase):
    def setUp(self) -> None:
        super().setUp()
        self.copies = self.dir / "copies"
        self.copies.mkdir()
        self.run_tool("echo", "hello")
        self.key = self.dir / "audit.key"
        self.vkey = self.audit_json("keygen", "--name", "example.org/audit", "--key", self.key, "--copy-to", self.copies, "--every", "4",
                                    "--interval", "1h")["public_key"]


class Transparency(Keyed):
    def leaves(self) -> list[bytes]:
        return [independent.leaf(bytes.fromhex(record["hash"])) for record in self.records()]

    def checkpoint(self) -> str:
        self.audit("checkpoint")
        return (self.log / "checkpoint").read_text()

    def test_a_checkpoint_signs_the_tree_of_the_records(self) -> None:
        self.assertEqual(self.key.stat().st_mode & 0o077, 0)
        size, root = independent.open_checkpoint(self.checkpoint(), self.vkey)
        self.assertEqual(size, 2)
        self.assertEqual(root, independent.root_of(self.leaves()))
        self.assertEqual(independent.tile_leaves(self.log, size), self.leaves())
        self.assertEqual((self.copies / "example.org_audit-0000000000000002").read_text(), (self.log / "checkpoint").read_text())
        with self.assertRaises(independent.InvalidSignature):
            independent.open_checkpoint((self.log / "checkpoint").read_text().replace("\n2\n", "\n3\n"), self.vkey)

    def test_checkpoints_come_by_themselves(self) -> None:
        for _ in range(5):
            self.run_tool("true")
        sizes = sorted(int(path.name.split("-")[-1]) for path in self.copies.iterdir())
        self.assertEqual(sizes, [4, 8, 12])
        self.assertEqual(self.audit_json("verify")["whole"], True)

    def test_a_proof_holds_for_who_knows_only_the_public_key(self) -> None:
        old_note = self.checkpoint()
        (self.dir / "old").write_text(old_note)
        for _ in range(9):
            self.run_tool("true")
        note = self.checkpoint()
        size, root = independent.open_checkpoint(note, self.vkey)
        self.assertEqual(size, 20)
        for number in (1, 2, 7, 20):
            proof = self.audit_json("prove", str(number), "--checkpoint", self.dir / "old")
            record = self.records()[number - 1]
            self.assertEqual(json.loads(proof["record"]), record)
            leaf = independent.leaf(bytes.fromhex(record["hash"]))
            hashes = [base64.b64decode(text) for text in proof["inclusion"]]
            self.assertTrue(independent.included(number - 1, size, leaf, hashes, root))
            self.assertFalse(independent.included(number - 1, size, independent.leaf(b"other"), hashes, root))
        old_size, old_root = independent.open_checkpoint(old_note, self.vkey)
        steps = [base64.b64decode(text) for text in proof["consistency"]["hashes"]]
        self.assertTrue(independent.consistent(old_size, old_root, size, root, steps))
        self.assertFalse(independent.consistent(old_size, bytes(32), size, root, steps))
        text = self.audit("prove", "7").stdout.decode()
        self.assertTrue(text.startswith("c2sp.org/tlog-proof@v1\nindex 6\n"))
        self.assertTrue(text.endswith(note))

    def test_a_past_written_anew_is_found_by_a_kept_checkpoint(self) -> None:
        (self.dir / "old").write_text(self.checkpoint())
        self.audit("verify", "--checkpoint", self.dir / "old", "--pub", self.vkey)
        shutil.rmtree(self.log)
        self.run_tool("echo", "another past")
        self.run_tool("true")
        self.audit("verify")  # the chain alone is whole
        done = self.audit("verify", "--checkpoint", self.dir / "old", "--pub", self.vkey, code=1)
        self.assertIn(b"are not those it signed", done.stdout)

    def test_a_checkpoint_that_cannot_be_made_holds_up_no_run_and_is_reported(self) -> None:
        self.copies.rmdir()
        for _ in range(3):
            self.assertEqual(self.run_tool("true").returncode, 0)
        self.assertTrue(any("could not be made" in note for note in self.audit_json("verify")["notes"]))

    def test_a_private_key_that_others_may_use_signs_nothing(self) -> None:
        before = self.checkpoint()  # control
        self.audit("attest", "last", "--key", self.key)
        self.run_tool("true")
        for mode in (0o604, 0o602, 0o660):
            self.key.chmod(mode)
            self.assertIn(b"others may use it", self.audit("checkpoint", code=125).stderr)
            self.assertIn(b"others may use it", self.audit("attest", "last", "--key", self.key, code=125).stderr)
        self.assertEqual((self.log / "checkpoint").read_text(), before)
        self.key.chmod(0o640)  # a group may share it for reading
        self.assertNotEqual(self.checkpoint(), before)

    def test_keygen_never_writes_over_a_key(self) -> None:
        before = self.key.read_bytes()
        self.audit("keygen", "--name", "example.org/audit", "--key", self.key, code=125)
        self.assertEqual(self.key.read_bytes(), before)


class Attestation(Keyed):
    def test_an_attestation_is_verified_by_others(self) -> None:
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
        for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
            subprocess.run([*git, *words], cwd=self.repo, check=True)
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.repo, check=True, capture_output=True, text=True).stdout.strip()
        self.run_tool("echo", "hello")
        run = self.records()[-1]["run"]
        out = self.dir / "run.intoto.jsonl"
        self.audit("attest", run, "--key", self.key, "-o", out)
        pem = (self.dir / "audit.key.pem").read_bytes()
        statement = independent.open_envelope(out.read_text(), pem)
        self.assertEqual(statement["_type"], "https://in-toto.io/Statement/v1")
        digests = {subject["name"]: subject["digest"] for subject in statement["subject"]}
        tree = subprocess.run(["git", "rev-parse", "HEAD^{tree}"], cwd=self.repo, check=True, capture_output=True, text=True).stdout.strip()
        self.assertEqual(digests[str(self.repo)], {"gitCommit": commit, "gitTree": tree})
        self.assertEqual(digests["stdout"], {"sha256": HELLO})
        self.assertEqual(statement["predicateType"], "urn:sallyport:receipt:v1")
        self.assertEqual(statement["predicate"]["receipt"]["jail"], "none")
        self.assertEqual(statement["predicate"]["records"][1]["hash"], self.records()[-1]["hash"])
        self.assertEqual(json.loads(self.audit("verify-attestation", out, "--pub", self.vkey).stdout), statement)
        # Another payload under the same signature.
        envelope = json.loads(out.read_text())
        payload = json.loads(base64.b64decode(envelope["payload"]))
        payload["predicate"]["receipt"]["jail"] = "native"
        envelope["payload"] = base64.b64encode(json.dumps(payload).encode()).decode()
        forged = self.dir / "forged"
        forged.write_text(json.dumps(envelope))
        with self.assertRaises(independent.InvalidSignature):
            independent.open_envelope(forged.read_text(), pem)
        self.audit("verify-attestation", forged, "--pub", self.vkey, code=1)

    def test_scai_has_each_guarantee_as_an_attribute(self) -> None:
        out = self.audit("attest", "last", "--key", self.key, "--predicate", "scai").stdout.decode()
        statement = independent.open_envelope(out, (self.dir / "audit.key.pem").read_bytes())
        self.assertEqual(statement["predicateType"], "https://in-toto.io/attestation/scai/v0.3")
        names = {entry["attribute"] for entry in statement["predicate"]["attributes"]}
        wanted = {entry["name"] for entry in self.records()[1]["receipt"]["guarantees"]}
        self.assertEqual(names, wanted | {"outcome.completed"})
        for entry in statement["predicate"]["attributes"]:
            self.assertEqual(entry["evidence"]["digest"]["sha256"], self.records()[1]["hash"])

    def test_a_refusal_is_nothing_to_attest(self) -> None:
        self.run_tool("bash")
        self.audit("attest", self.records()[-1]["run"], "--key", self.key, code=125)


if __name__ == "__main__":
    main()
