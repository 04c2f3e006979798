"""A log of a million records is verified, shown and proved within 64 MiB of memory."""
import os
import subprocess

import many
from audit_case import SALLYPORT, AuditCase, main

RECORDS = 1_000_000
MEMORY_KIB = 64 * 1024


class Million(AuditCase):
    def peak(self, *args) -> int:
        """Peak memory in KiB of one call, whose output is dropped."""
        with open("/dev/null", "wb") as nowhere:
            process = subprocess.Popen([SALLYPORT, "audit", *map(str, args)], env=self.env, stdout=nowhere)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, args)
        return usage.ru_maxrss

    def test_needs_little_memory(self) -> None:
        many.write(self.log, RECORDS)
        self.audit("keygen", "--name", "example.org/audit", "--every", "100000000", "--interval", "24h")
        self.audit("checkpoint", timeout=1200)  # hashes all of it
        for args in (("verify",), ("show",), ("show", "--json"), ("prove", "500000"), ("stats",)):
            peak = self.peak(*args)
            print(f"{args[0]}: {peak} KiB", flush=True)
            self.assertLessEqual(peak, MEMORY_KIB, args)


if __name__ == "__main__":
    main()
