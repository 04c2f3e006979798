"""Tables for docs/benchmarks.md, each between its own markers; everything outside the markers is written by people."""

from . import stats, svg

DOCUMENT = "docs/benchmarks.md"


def milliseconds(value):
    return "–" if value is None else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def ratio_text(found):
    if found is None:
        return "–"
    value, low, high = found
    return f"{value:.2f}" if low is None else f"{value:.2f} [{low:.2f}–{high:.2f}]"


def table(head, rows, left=1):
    """The first `left` columns hold words, the others figures."""
    rule = "|" + "|".join(" --- " if index < left else " ---: " for index in range(len(head))) + "|"
    lines = ["| " + " | ".join(head) + " |", rule]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def put(root, section, content):
    """Replaces what stands between the section's markers."""
    begin, end = f"<!-- {section}: measured -->", f"<!-- {section}: end -->"
    path = root / DOCUMENT
    text = path.read_text(encoding="utf-8")
    if begin not in text or end not in text:
        raise ValueError(f"{DOCUMENT} has no markers for {section}")
    before, rest = text.split(begin, 1)
    after = rest.split(end, 1)[1]
    path.write_text(f"{before}{begin}\n{content.strip()}\n{end}{after}", encoding="utf-8")


def chart(root, name, content):
    """Writes the picture beside the document; the Markdown that shows it."""
    place = root / "docs/benchmarks"
    place.mkdir(exist_ok=True)
    (place / f"{name}.svg").write_text(content, encoding="utf-8")


def measured(entrant):
    return [time for time in entrant["times"] if time is not None]


def kind_of(name):
    return "ours" if name.startswith("sallyport") else "floor" if name == "floor" else "other"


def job_section(root, name, title, note, entrants, absent):
    """One job: a chart, and a table with every program, also those that could not take part."""
    times = {entrant["name"]: entrant for entrant in entrants}
    good = [entrant for entrant in entrants if not entrant["failure"]]
    rows, bars = [], []
    for entrant in good:
        values = measured(entrant)
        p50, p95, p99 = stats.median(values), stats.percentile(values, 0.95), stats.percentile(values, 0.99)
        ratios = [ratio_text(stats.ratio(entrant["times"], times[base]["times"]))
                  if base in times and not times[base]["failure"] else "–" for base in ("bare", "bwrap")]
        rows.append([entrant["name"], str(len(values)), *(milliseconds(value) for value in (p50, p95, p99)), *ratios])
        bars.append((entrant["name"], kind_of(entrant["name"]), p50, p95))
    rows += [[entrant["name"], "0", "failed ¹", "–", "–", "–", "–"] for entrant in entrants
             if entrant["failure"] and entrant["name"] not in absent]
    rows += [[name, "0", reason, "–", "–", "–", "–"] for name, reason in absent.items()]
    if any(p95 for _, _, _, p95 in bars):
        note += ", whisker to p95"
    chart(root, name, svg.bars(title, note, sorted(bars, key=lambda bar: bar[2])))
    head = ["", "runs", "p50 ms", "p95 ms", "p99 ms", "× bare [95 %]", "× bwrap [95 %]"]
    failures = [f"¹ {entrant['name']}: `{' '.join(entrant['failure'].split())[-160:]}`" for entrant in entrants
                if entrant["failure"] and entrant["name"] not in absent]
    parts = [f"### {title}", f"![{title}](benchmarks/{name}.svg)", table(head, rows), *failures]
    return "\n\n".join(parts)
