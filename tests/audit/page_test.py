"""The report's page in a real browser: hostile text stays text, it filters, shows a receipt on click, light and dark."""
import os
import re
import shutil
import subprocess
import unittest

from audit_case import AuditCase, main

CHROMIUM = shutil.which("chromium")
HOSTILE = ["</script><script>document.title='owned'</script>", "<img src=x onerror=\"document.title='owned'\">", "\u202ebidi", "\x1b[2J",
           "'\"><b>bold</b>"]
# Run behind the page's own script; what it finds goes into the title, which --dump-dom prints. The page's policy forbids it, so the
# policy of a copy is opened for this one script: the page under test is the other.
PROBE = """<script>
window.onload = () => {
  const list = document.getElementById('list'), q = document.getElementById('q');
  const out = {rows: document.querySelectorAll('.row').length, owned: document.title, bold: document.querySelectorAll('main b, main img').length};
  document.querySelector('.row').click();
  out.detail = document.getElementById('detail').textContent.includes('jail: none');
  q.value = 'false'; filter();
  out.filtered = document.getElementById('count').textContent;
  const from = performance.now();
  for (const word of ['echo', 'true', 'refusal', '']) { q.value = word; filter(); }
  out.ms = Math.round((performance.now() - from) / 4);
  document.body.dataset.found = JSON.stringify(out);
};
</script>"""


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class Page(AuditCase):
    def browse(self, *args: str) -> str:
        home = self.dir / "browser"
        home.mkdir(exist_ok=True)
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={home}", "--virtual-time-budget=9000",
                               *args], env={**os.environ, "HOME": str(home)}, capture_output=True, timeout=240, check=False)
        return done.stdout.decode(errors="replace")

    def page(self):
        page = self.dir / "page.html"
        self.audit("report", "-o", page)
        return page

    def probed(self) -> dict:
        import html
        import json
        text = self.page().read_text()
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        copy = self.dir / "probed.html"
        copy.write_text(text.replace("</body>", PROBE + "</body>"))
        dom = self.browse("--dump-dom", copy.as_uri())
        return json.loads(html.unescape(re.search(r'data-found="([^"]*)"', dom).group(1)))

    def test_hostile_text_is_text(self) -> None:
        self.run_tool("echo", *HOSTILE)
        self.run_tool("false")
        found = self.probed()
        self.assertEqual(found["owned"], "sallyport audit")
        self.assertEqual(found["bold"], 0)
        self.assertEqual(found["rows"], 2)
        self.assertTrue(found["detail"])
        self.assertEqual(found["filtered"], "1 of 2 calls")

    def test_the_pages_policy_lets_its_own_script_run_and_no_other(self) -> None:
        self.run_tool("echo", "hello")
        page = self.page()
        dom = self.browse("--dump-dom", page.as_uri())
        self.assertIn("1 of 1 calls", dom)
        page.write_text(page.read_text().replace("</body>", "<script>document.title='owned'</script></body>"))
        self.assertNotIn("owned</title>", self.browse("--dump-dom", page.as_uri()))

    def test_light_and_dark_are_two_pictures(self) -> None:
        self.run_tool("echo", "hello")
        page = self.page()
        pictures = []
        for scheme in ("light", "dark"):
            picture = self.dir / f"{scheme}.png"
            self.browse(f"--screenshot={picture}", "--window-size=1200,900", f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}",
                        page.as_uri())
            pictures.append(picture.read_bytes())
            self.assertGreater(len(pictures[-1]), 10_000)
        self.assertNotEqual(*pictures)


if __name__ == "__main__":
    main()
