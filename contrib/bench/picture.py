"""Pictures of cost against size: SVG with logarithmic axes, which a browser shows in light and dark."""

import html
import math

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 48, 56
COLOURS = ["#0b6bcb", "#c2410c", "#15803d", "#7e22ce"]
STYLE = """
  svg { background: #fff; color: #222; font: 13px system-ui, sans-serif; }
  @media (prefers-color-scheme: dark) { svg { background: #16181d; color: #ddd; } }
  .grid { stroke: currentColor; opacity: .18; } .axis { stroke: currentColor; opacity: .6; }
  text { fill: currentColor; } .title { font-weight: 600; font-size: 15px; }
"""


def decades(values):
    """The powers of ten around the values, at least two."""
    low = math.floor(math.log10(min(values)))
    high = math.ceil(math.log10(max(values)))
    return range(low, max(high, low + 1) + 1)


def number(power):
    return f"{10 ** power:,}" if power >= 0 else f"{10 ** power:.{-power}f}"


def curve(title, x_name, y_name, series, bound=None):
    """A picture of `series`: for each name, points (size, cost), both greater than zero.

    `bound` is a point (size, cost) that the cost at this size must not exceed.
    """
    points = [point for line in series.values() for point in line] + ([bound] if bound else [])
    if not points:
        return None
    columns, rows = decades([x for x, _ in points]), decades([y for _, y in points])

    def across(x):
        part = (math.log10(x) - columns[0]) / (columns[-1] - columns[0])
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def down(y):
        part = (math.log10(y) - rows[0]) / (rows[-1] - rows[0])
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
             f"<title>{html.escape(title)}</title><style>{STYLE}</style>",
             f'<text class="title" x="{LEFT}" y="24">{html.escape(title)}</text>']
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for power in columns:
        x = across(10 ** power)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>'
                     f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{number(power)}</text>')
    for power in rows:
        y = down(10 ** power)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>'
                     f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number(power)}</text>')
    parts.append(f'<path class="axis" fill="none" d="M{LEFT} {TOP}V{bottom}H{right}"/>'
                 f'<text x="{(LEFT + right) / 2:.0f}" y="{HEIGHT - 16}" text-anchor="middle">{html.escape(x_name)}</text>'
                 f'<text x="{LEFT}" y="{TOP - 8}">{html.escape(y_name)}</text>')
    labels = []
    for (name, line), colour in zip(series.items(), COLOURS):
        places = [(across(x), down(y)) for x, y in sorted(line)]
        if not places:
            continue
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
        labels.append((places[-1][1], name, colour))
    if bound:
        x, y = across(bound[0]), down(bound[1])
        parts.append(f'<path fill="none" stroke="currentColor" stroke-dasharray="4 3" d="M{x - 28:.1f} {y:.1f}h56"/>')
        labels.append((y, "bound", "currentColor"))
    # Labels that would cover each other move down.
    lowest = 0
    for y, name, colour in sorted(labels):
        lowest = max(y + 4, lowest + 16)
        parts.append(f'<text x="{right + 8}" y="{lowest:.1f}" style="fill:{colour}">{html.escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])
