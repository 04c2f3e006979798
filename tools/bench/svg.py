"""Charts as plain SVG, readable on light and on dark pages."""

import math
from xml.sax.saxutils import escape

STYLE = """<style>
  text { font: 13px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328; }
  .title { font-size: 15px; font-weight: 600; }
  .small { font-size: 11px; fill: #59636e; }
  .page { fill: #ffffff; } .grid { stroke: #d1d9e0; stroke-width: 1; }
  .ours { fill: #0969da; } .other { fill: #8c959f; } .floor { fill: #bf8700; }
  .whisker { stroke: #59636e; stroke-width: 1.5; }
  .line { fill: none; stroke-width: 2; }
  .cold { stroke: #0969da; } .warm { stroke: #bf3989; } .bare { stroke: #8c959f; }
  .dot-cold { fill: #0969da; } .dot-warm { fill: #bf3989; } .dot-bare { fill: #8c959f; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; } text { fill: #e6edf3; } .small { fill: #9198a1; }
    .grid { stroke: #3d444d; } .whisker { stroke: #9198a1; }
    .ours { fill: #4493f8; } .other { fill: #656c76; } .floor { fill: #d29922; }
    .cold { stroke: #4493f8; } .warm { stroke: #db61a2; } .bare { stroke: #9198a1; }
    .dot-cold { fill: #4493f8; } .dot-warm { fill: #db61a2; } .dot-bare { fill: #9198a1; }
  }
</style>"""

WIDTH = 760
LABELS = 170  # room at the left
FIGURES = 90  # room at the right
ROW = 26


def number(milliseconds):
    """Three figures, with the unit that suits."""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.3g} s"
    return f"{milliseconds:.3g} ms"


def text(x, y, content, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {extra}>{escape(content)}</text>'


def document(width, height, title, parts):
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    # A page of its own: a viewer that knows no media queries would else put dark text on its dark page.
    page = f'<rect class="page" width="{width}" height="{height}" rx="6"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", STYLE, page, *parts, "</svg>", ""])


def ticks_of(low, high):
    """1, 2 and 5 times each power of ten that lies inside; only the powers when the span is wide."""
    steps = (1, 2, 5) if high / low < 200 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]


def even_ticks(high):
    """From 0, in steps of 1, 2 or 5 times a power of ten, four to eight of them."""
    step = 10.0 ** math.floor(math.log10(high / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if high / (step * factor) <= 8)
    return [step * index for index in range(math.floor(high / step) + 1)]


def bars(title, note, rows):
    """rows: (name, kind, p50, p95 or None), kind one of ours, other, floor. Logarithmic when they are far apart."""
    longest = max(p95 or p50 for _, _, p50, p95 in rows)
    shortest = min(p50 for _, _, p50, _ in rows)
    log = longest / shortest > 12
    low = shortest / 2.5 if log else 0.0
    high = longest * (1.3 if log else 1.05)

    def across(value):
        share = math.log(value / low) / math.log(high / low) if log else value / high
        return LABELS + share * (WIDTH - LABELS - FIGURES)

    height = 62 + ROW * len(rows) + 30
    bottom = 58 + ROW * len(rows)
    note += ", logarithmic scale" if log else ""
    parts = [text(12, 24, title, 'class="title"'), text(12, 42, note, 'class="small"')]
    for tick in ticks_of(low, high) if log else even_ticks(high):
        x = across(tick)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="52" x2="{x:.1f}" y2="{bottom}"/>')
        parts.append(text(x, bottom + 16, number(tick) if tick else "0", 'class="small" text-anchor="middle"'))
    for index, (name, kind, p50, p95) in enumerate(rows):
        top = 56 + ROW * index
        parts.append(text(LABELS - 8, top + 15, name, 'text-anchor="end"'))
        end = across(p50)
        size = f'width="{max(end - LABELS, 1):.1f}" height="{ROW - 8}"'
        parts.append(f'<rect class="{kind}" x="{LABELS}" y="{top + 3}" {size} rx="2"/>')
        if p95:
            middle, right = top + ROW / 2 - 1, across(p95)
            parts.append(f'<path class="whisker" d="M{end:.1f} {middle}H{right:.1f}M{right:.1f} {middle - 4}v8"/>')
            end = right
        parts.append(text(end + 6, top + 15, number(p50)))
    return document(WIDTH, height, title, parts)


PANEL_WIDTH = 300
PANEL_HEIGHT = 190


def panel(left, top, title, series):
    """series: {who: [(x, y), …]}; x evenly spaced by rank, since it goes from 1 to 10,000; y from 0."""
    parts = [text(left, top + 14, title, 'class="title"')]
    points = next(iter(series.values()))
    highest = max(y for line in series.values() for _, y in line) * 1.08
    x0, y0, wide, tall = left + 46, top + PANEL_HEIGHT - 26, PANEL_WIDTH - 66, PANEL_HEIGHT - 56

    def place(rank, y):
        return x0 + wide * rank / max(len(points) - 1, 1), y0 - tall * y / highest

    for tick in even_ticks(highest):
        _, y = place(0, tick)
        parts.append(f'<line class="grid" x1="{x0}" y1="{y:.1f}" x2="{x0 + wide}" y2="{y:.1f}"/>')
        parts.append(text(x0 - 6, y + 4, number(tick) if tick else "0", 'class="small" text-anchor="end"'))
    for rank, (at, _) in enumerate(points):
        parts.append(text(place(rank, 0)[0], y0 + 16, f"{at:,}", 'class="small" text-anchor="middle"'))
    for who, line in series.items():
        placed = [place(rank, y) for rank, (_, y) in enumerate(line)]
        parts.append(f'<polyline class="line {who}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in placed)}"/>')
        parts += [f'<circle class="dot-{who}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in placed]
    return parts


def panels(title, note, all_series, names):
    """A grid of panels, two in a row; names: {who: what the legend says}."""
    parts = [text(12, 24, title, 'class="title"'), text(12, 42, note, 'class="small"')]
    x = 12
    for who, what in names.items():
        parts += [f'<rect class="dot-{who}" x="{x}" y="58" width="14" height="4"/>', text(x + 20, 64, what)]
        x += 46 + 7.2 * len(what)
    for index, (name, series) in enumerate(all_series.items()):
        left, top = 12 + (index % 2) * (PANEL_WIDTH + 70), 84 + (index // 2) * (PANEL_HEIGHT + 14)
        parts += panel(left, top, name, series)
    height = 84 + -(-len(all_series) // 2) * (PANEL_HEIGHT + 14) + 6
    return document(2 * PANEL_WIDTH + 90, height, title, parts)
