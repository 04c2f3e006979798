"""The comparison over made-up times: a loss that shows twice fails, anything less does not."""

import json
import sys
import unittest

from common import TOOLS, CheckTest

sys.path.insert(0, str(TOOLS))
from bench import stats  # noqa: E402

START = "true, jailed (ratio to bwrap)"


class BenchCheckTest(CheckTest):
    def times(self, name, library, bwrap=10.0, others=()):
        """One measurement; the library's median is `library`."""
        entries = [("library, native jail", library), ("bwrap", bwrap), *others]
        lines = [json.dumps({"bench": START, "contestant": who, "times": [value * 0.9, value, value * 3]})
                 for who, value in entries]
        return self.write(name, "\n".join(lines) + "\n")

    def recorded(self, ratio, tolerance=0.1):
        return self.write("recorded.json", json.dumps({"start.library": {"ratio": ratio, "tolerance": tolerance}}))

    def check(self, *times, record=None):
        return self.run_check("bench_check.py", "--record-file", record or self.recorded(0.4), "--times", *times)

    def test_the_recorded_ratio_passes_at_once(self):
        self.assert_passes(self.check(self.times("one", 4.0)))

    def test_a_gain_passes(self):
        self.assert_passes(self.check(self.times("one", 2.0)))

    def test_a_loss_within_the_tolerance_passes(self):
        self.assert_passes(self.check(self.times("one", 4.3)))

    def test_a_loss_that_shows_twice_fails_and_is_named(self):
        result = self.check(self.times("one", 4.6), self.times("two", 4.7))
        self.assert_fails(result, "start.library is worse than recorded", "+15.0%", "+17.5%")

    def test_a_loss_that_does_not_show_again_passes(self):
        self.assert_passes(self.check(self.times("one", 9.0), self.times("two", 4.0)))

    def test_a_loss_that_cannot_be_measured_again_fails(self):
        self.assert_fails(self.check(self.times("one", 9.0)), "not measured again")

    def test_a_slower_machine_is_no_loss(self):
        self.assert_passes(self.check(self.times("one", 12.0, bwrap=30.0)))

    def test_a_recorded_ratio_that_is_not_measured_any_more_fails(self):
        gone = self.write("gone", json.dumps({"bench": START, "contestant": "bwrap", "times": [1.0]}) + "\n")
        self.assert_fails(self.check(gone, gone), "start.library is worse", "missing")

    def test_a_ratio_that_is_not_recorded_yet_passes(self):
        self.assert_passes(self.check(self.times("one", 4.0, others=[("floor", 3.0)])))

    def test_no_record_fails(self):
        self.assert_fails(self.check(self.times("one", 4.0), record=self.root / "none.json"), "make bench-record")

    def test_a_record_holds_the_measured_ratio_and_a_tolerance_that_can_fail(self):
        record = self.root / "new.json"
        times = self.times("one", 4.0)
        self.assert_passes(self.run_check("bench_check.py", "--record", "--record-file", record, "--times", times))
        self.assertEqual(json.loads(record.read_text()), {"start.library": {"ratio": 0.4, "tolerance": 0.08}})
        self.assert_fails(self.check(self.times("a", 4.5), self.times("b", 4.5), record=record), "start.library")


class StatsTest(unittest.TestCase):
    def test_a_percentile_that_so_few_values_cannot_show_is_none(self):
        self.assertIsNone(stats.percentile(range(1, 20), 0.95))
        self.assertEqual(stats.percentile(range(1, 101), 0.95), 95)

    def test_a_ratio_uses_only_rounds_in_which_both_took_part(self):
        value, low, high = stats.ratio([None, 20.0, None, 22.0], [1.0, 10.0, 1.0, 11.0])
        self.assertEqual((value, low, high), (2.0, 2.0, 2.0))
        self.assertIsNone(stats.ratio([None, 1.0], [1.0, None]))

    def test_the_interval_holds_the_ratio_and_is_wide_where_times_are(self):
        base = [10.0] * 40
        value, low, high = stats.ratio([10.0 + index for index in range(40)], base)
        self.assertTrue(low < value < high)
        self.assertGreater(high - low, 0.3)
        self.assertEqual(stats.ratio([5.0], [10.0]), (0.5, None, None))


if __name__ == "__main__":
    unittest.main()
