"""Tables of perf/report.py from small results."""
import importlib.util
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("report", ROOT / "perf" / "report.py")
sys.dont_write_bytecode = True
report = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(report)

SURROUNDINGS = {"device": "NVIDIA H200", "torch": "2.11.0", "driver": "13.0", "date": "2026-11-30"}


def times(rate, roof):
    return {regime: {"rate": rate, "roof_percent": roof} for regime in ("cold", "steady")}


def speed_result():
    row = {"call": "softmax 8x8", "unit": "GB/s", "ours": times(4000, 95), "ratio": {"cold": 1.5, "steady": 1.25},
           "best_native": {"cold": "softmax", "steady": "softmax"}}
    return {"family": "softmax", "rows": [row], "geometric_mean": {"cold": 1.5, "steady": 1.25}, "judged_ratio": 1.5,
            "worst": {"call": "softmax 8x8", "ratio": 1.5}, **SURROUNDINGS}


class Report(unittest.TestCase):
    def test_speed_has_every_row_the_mean_and_the_worst(self):
        self.assertEqual(
            report.drawn(speed_result()), "### softmax\n\n"
            "| call | ours, cold | of the roof | x cold | x steady | best native |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: |\n"
            "| `softmax 8x8` | 4000 GB/s | 95 % | 1.500 | 1.250 | softmax |\n"
            "| **geometric mean** |  |  | **1.500** | **1.250** |  |\n\n"
            "Judged ratio 1.500; worst 1.500: `softmax 8x8`.\n")

    def test_programs_by_hand_stand_beside_generated_and_native_kernels(self):
        time = {"median_us": 190.25, "rate": 722.4}
        row = {"call": "linear 8x8x8", "program": "linear", "ours": {"cold": time, "steady": time},
               "generated_ratio": {"cold": 0.98, "steady": 1.02}, "ratio": {"cold": 1.05, "steady": 1.1},
               "best_generated": {"cold": "m=64", "steady": "m=128"}, "best_native": {"cold": "mm", "steady": "linear"}}
        self.assertEqual(
            report.drawn({"family": "device_programs", "rows": [row]}), "### device_programs\n\n"
            "| call | program | cold, us | TFLOP/s | x generated | x native | steady, us | TFLOP/s | x generated | x native "
            "| generated | native |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            "| `linear 8x8x8` | linear | 190.2 | 722 | 0.980 | 1.050 | 190.2 | 722 | 1.020 | 1.100 | `m=128` | linear |\n\n"
            "x generated: time of the passes' best kernel over that of the program by hand; below 1 the passes win.\n")

    def test_accuracy_says_what_does_not_hold(self):
        error = {"max": 1e-3, "rms": None}
        accuracy = {"ours": error, "native": error, "allowed": error, "holds": False}
        result = {"family": "accuracy", "rows": [{"call": "add 8x8", "kind": "forward", "accuracy": accuracy}]}
        self.assertIn("| `add 8x8` | forward | 1.0e-03 | 1.0e-03 | 1.0e-03 | inf | inf | inf | **NO** |",
                      report.drawn(result))

    def test_startup_says_what_is_paid_once(self):
        row = {"call": "add 8x8", "cold_first_ms": 410.25, "cached_first_ms": 3, "native_first_ms": 1.5, "next_ms": 0.1}
        result = {"family": "startup", "rows": [row], "library_load_ms": 2}
        self.assertEqual(
            report.drawn(result), "### startup\n\n"
            "| call | first, cache empty, ms | cache filled, ms | native, ms | next, ms |\n"
            "| --- | ---: | ---: | ---: | ---: |\n"
            "| `add 8x8` | 410.2 | 3.0 | 1.5 | 0.1 |\n\n"
            "The library loads in 2.0 ms.\n")

    def test_a_failed_call_is_named(self):
        result = {"family": "add", "rows": [], "failures": [{"call": "add 8x8", "problem": "wrong\nmore"}]}
        self.assertEqual(report.drawn(result), "### add\n\n\nFailed: `add 8x8`: wrong\n")

    def test_the_readme_changes_between_its_marks_only(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            device = folder / "results" / "NVIDIA_H200"
            device.mkdir(parents=True)
            (device / "softmax.json").write_text(json.dumps(speed_result()))
            readme = folder / "README.md"
            (device / "records.json").write_text('{"format": 1, "records": []}')
            readme.write_text(f"before\n{report.BEGIN}\nstale\n{report.END}\nafter\n")
            report.write_between_marks(readme, report.summary(folder / "results"))
            text = readme.read_text()
        self.assertEqual(
            text, f"before\n{report.BEGIN}\n"
            "| device | family | x cold | x steady | worst row |\n"
            "| --- | ---: | ---: | ---: | ---: |\n"
            "| NVIDIA H200 | softmax | 1.50 | 1.25 | 1.50 `softmax 8x8` |\n"
            f"{report.END}\nafter\n")

    def test_the_committed_tables_are_those_of_the_results(self):
        results = ROOT / "perf" / "results"
        self.assertIn(f"{report.BEGIN}\n{report.summary(results)}{report.END}", (ROOT / "README.md").read_text())
        self.assertEqual(report.report(results), (ROOT / "docs" / "results.md").read_text())


if __name__ == "__main__":
    unittest.main()
