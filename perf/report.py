#!/usr/bin/env python3
"""Draws the tables of README.md, and plots where matplotlib is installed, from perf/results/<device>/*.json.

    python3 perf/report.py > docs/results.md     prints every table
    python3 perf/report.py --readme README.md    writes a row a family between <!-- results --> and <!-- /results -->
    python3 perf/report.py --plots docs/plots    draws one bar chart for each family
"""
import argparse
import json
import pathlib
import sys

BEGIN, END = "<!-- results -->", "<!-- /results -->"
REGIMES = ("cold", "steady")


def table(head, rows):
    """A Markdown table; all columns but the first are aligned to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def small(value):
    """An error; JSON has no infinity."""
    return "inf" if value is None else f"{value:.1e}"


def percent(value):
    return f"{value:.0f} %"


def speed_table(result):
    rows = []
    for row in result["rows"]:
        cold = row["ours"]["cold"]
        rows.append([
            f"`{row['call']}`", f"{cold['rate']:.0f} {row['unit']}", percent(cold["roof_percent"]),
            *(f"{row['ratio'][regime]:.3f}" for regime in REGIMES), row["best_native"]["cold"]
        ])
    mean = result["geometric_mean"]
    rows.append(["**geometric mean**", "", "", *(f"**{mean[regime]:.3f}**" for regime in REGIMES), ""])
    worst = result["worst"]
    note = f"Judged ratio {result['judged_ratio']:.3f}; worst {worst['ratio']:.3f}: `{worst['call']}`."
    return table(["call", "ours, cold", "of the roof", "x cold", "x steady", "best native"], rows) + "\n\n" + note


def device_table(result):
    """Programs by hand: their time, beside the best kernel of the passes and the best native candidate."""
    rows = []
    for row in result["rows"]:
        cells = [f"`{row['call']}`", row["program"]]
        for regime in REGIMES:
            ours = row["ours"][regime]
            cells += [f"{ours['median_us']:.1f}", f"{ours['rate']:.0f}", f"{row['generated_ratio'][regime]:.3f}",
                      f"{row['ratio'][regime]:.3f}"]
        best = row["best_generated"]["steady"]
        rows.append(cells + [f"`{best}`", row["best_native"]["steady"]])
    head = ["call", "program"]
    for regime in REGIMES:
        head += [f"{regime}, us", "TFLOP/s", "x generated", "x native"]
    note = "x generated: time of the passes' best kernel over that of the program by hand; below 1 the passes win."
    return table(head + ["generated", "native"], rows) + "\n\n" + note


def accuracy_table(result):
    rows = []
    for row in result["rows"]:
        accuracy = row["accuracy"]
        ours, native, allowed = accuracy["ours"], accuracy["native"], accuracy["allowed"]
        rows.append([
            f"`{row['call']}`", row["kind"], *(small(error[key]) for key in ("max", "rms") for error in (ours, native, allowed)),
            "yes" if accuracy["holds"] else "**NO**"
        ])
    return table(["call", "of", "max: ours", "native", "allowed", "rms: ours", "native", "allowed", "holds"], rows)


def host_table(result):
    rows = [[f"`{row['call']}`", "yes" if row["grad"] else "no", f"{row['ours_us']:.2f}", f"{row['native_us']:.2f}",
             f"{row['ours_us'] - row['native_us']:+.2f}"] for row in result["rows"]]
    return table(["call", "grad", "ours, us", "native, us", "difference"], rows)


def startup_table(result):
    rows = [[f"`{row['call']}`", *(f"{row[key]:.1f}" for key in ("cold_first_ms", "cached_first_ms", "native_first_ms", "next_ms"))]
            for row in result["rows"]]
    note = f"The library loads in {result['library_load_ms']:.1f} ms."
    return table(["call", "first, cache empty, ms", "cache filled, ms", "native, ms", "next, ms"], rows) + "\n\n" + note


def drawn(result):
    """One family as Markdown."""
    draw = {"accuracy": accuracy_table, "device_programs": device_table, "host_time": host_table,
            "startup": startup_table}.get(result["family"], speed_table)
    text = f"### {result['family']}\n\n"
    if result["rows"]:
        text += draw(result) + "\n"
    for failure in result.get("failures", []):
        text += f"\nFailed: `{failure['call']}`: {failure['problem'].splitlines()[0]}\n"
    return text


def read(folder):
    results = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return [result for result in results if "family" in result]  # records and test logs lie there too


def report(results):
    """All devices as Markdown."""
    text = ""
    for folder in sorted(path for path in results.iterdir() if path.is_dir()):
        families = read(folder)
        if not families:
            continue
        first = families[0]
        text += f"## {first['device']}\n\ntorch {first['torch']}, driver for CUDA {first['driver']}, {first['date']}. "
        text += "x: time of the best native candidate over ours, in the same process.\n\n"
        text += "\n".join(drawn(family) for family in families) + "\n"
    return text


def summary(results):
    """A row for each family of speeds, all devices."""
    rows = []
    for folder in sorted(path for path in results.iterdir() if path.is_dir()):
        for family in read(folder):
            if "geometric_mean" in family:
                mean, worst = family["geometric_mean"], family["worst"]
                rows.append([family["device"], family["family"], f"{mean['cold']:.2f}", f"{mean['steady']:.2f}",
                             f"{worst['ratio']:.2f} `{worst['call']}`"])
    return table(["device", "family", "x cold", "x steady", "worst row"], rows) + "\n"


def write_between_marks(readme, text):
    whole = readme.read_text()
    if BEGIN not in whole or END not in whole:
        sys.exit(f"report.py: {readme} lacks the marks {BEGIN} and {END}")
    before, rest = whole.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    readme.write_text(f"{before}{BEGIN}\n{text}{END}{after}")


def plot(results, folder):
    """A bar for each row and regime; the line at 1 is native."""
    try:
        from matplotlib import pyplot
    except ImportError:
        sys.exit("report.py: plots need matplotlib (pip install matplotlib); the tables do not")
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(results.glob("*/*.json")):
        result = json.loads(path.read_text())
        if "geometric_mean" not in result:  # no family of speeds
            continue
        rows = result["rows"]
        figure, axes = pyplot.subplots(figsize=(8, 0.5 * len(rows) + 1.5))
        for i, regime in enumerate(REGIMES):
            places = [place + 0.4 * i for place in range(len(rows))]
            axes.barh(places, [row["ratio"][regime] for row in rows], height=0.4, label=regime)
        axes.axvline(1, color="black", linewidth=1)
        axes.set_yticks([place + 0.2 for place in range(len(rows))], [row["call"] for row in rows], fontsize=7)
        axes.invert_yaxis()
        axes.set_xlabel(f"speed over the best native candidate, {result['device']}")
        axes.legend()
        figure.tight_layout()
        figure.savefig(folder / f"{path.parent.name}_{path.stem}.svg")
        pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path(__file__).parent / "results")
    parser.add_argument("--readme", type=pathlib.Path)
    parser.add_argument("--plots", type=pathlib.Path)
    arguments = parser.parse_args()
    if not arguments.results.is_dir():
        sys.exit(f"report.py: no folder {arguments.results}; bench_ops writes it on a machine with a GPU")
    if arguments.readme:
        write_between_marks(arguments.readme, summary(arguments.results))
    if arguments.plots:
        plot(arguments.results, arguments.plots)
    if not arguments.readme and not arguments.plots:
        print(report(arguments.results), end="")


if __name__ == "__main__":
    main()
