"""Matplotlib figures as SVG elements that live inside a page.

The colours of the axes become the page's CSS variables, so that a plot follows the light or dark scheme; ids get a
prefix, so that several plots share a page; nothing in the text depends on the time or on the process.
"""

from __future__ import annotations

import io
import logging
import re
import unicodedata
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

from scisuite.bench.report.elements import Element, element
from scisuite.bench.report.formats import shortened

INK, MUTED, GRID, SURFACE, GOOD, BAD, OPEN = (f"#01010{i}" for i in range(1, 8))
"""Stand-ins for the page's colours: text, secondary text, grid lines, background, and the three verdicts."""

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK, "#8c8c8c")
"""Okabe and Ito's, without the yellow that is lost on white; the text colour takes the place of black."""

_VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--grid",
    SURFACE: "--surface",
    GOOD: "--good",
    BAD: "--bad",
    OPEN: "--open",
    **{colour: f"--arm-{i}" for i, colour in enumerate(PALETTE) if colour != INK},
}
_FONTS = "'DejaVu Sans', 'Verdana', 'Arial', sans-serif"
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "scisuite",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 5),
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.handlelength": 3.2,
    "path.simplify": True,
}


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib's settings for the report, for the time of a ``with`` block; the caller's are put back."""
    import matplotlib

    log = logging.getLogger("matplotlib.font_manager")
    level = log.level
    settings: dict[Any, Any] = {**matplotlib.rcParamsDefault, **_STYLE}
    # To choose a backend again would close the caller's figures.
    settings.pop("backend", None)
    with warnings.catch_warnings(), matplotlib.rc_context(settings):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        log.setLevel(logging.ERROR)
        try:
            yield
        finally:
            log.setLevel(level)


def fitted(text: str, width: float, size: float = 9) -> str:
    """One line of ``text``, cut to what fits in ``width`` inches at that font size; call it inside :func:`style`."""
    line = shortened(text, 120)
    length = len(line)
    while length > 1 and _width(shortened(line, length), size) > width:
        length -= max(1, length // 12)
    return shortened(line, length)


def to_element(figure: Any, prefix: str, label: str, description: str, titles: Mapping[str, str]) -> Element:
    """The figure as an ``<svg role="img">`` element; call it inside :func:`style`.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    prefix : str
        Put before every id.
    label, description : str
        The plot's name, and what a reader who cannot see it should know.
    titles : mapping of str to str
        Group id (``set_gid``) to the text shown when the pointer rests on it.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in root.iter():
        for child in list(parent):
            if _local(child.tag) in ("metadata", "style"):
                parent.remove(child)
    for node in root.iter():
        node.tag, node.tail = _local(node.tag), None
        if node.tag != "text":
            node.text = None
        group = node.get("id", "")
        for name, value in list(node.attrib.items()):
            del node.attrib[name]
            node.set(_local(name), _rewritten(_local(name), value, prefix))
        if group in titles:
            node.insert(0, element("title", titles[group]))
    width, height = (float(v) for v in root.get("viewBox", "0 0 1 1").split()[2:])
    for name in ("version", "height"):
        root.attrib.pop(name, None)
    root.set("width", f"{width:g}")
    root.set("height", f"{height:g}")
    root.set("font-family", _FONTS)
    root.set("role", "img")
    root.set("aria-label", label)
    root.set("class", "plot")
    root.set("style", f"min-width: {0.95 * width:.0f}px; max-width: {1.38 * width:.0f}px")
    root.insert(0, element("desc", description))
    return root


def _width(text: str, size: float) -> float:
    """Inches. A browser draws what DejaVu lacks with another font: East Asian characters count as wide ones."""
    from matplotlib.font_manager import findfont, get_font

    font = get_font(findfont("DejaVu Sans"))
    font.set_size(size, 72)
    font.set_text("".join("W" if unicodedata.east_asian_width(character) in "WF" else character for character in text))
    return float(font.get_width_height()[0]) / 64 / 72


def _local(name: str) -> str:
    return name.rsplit("}", 1)[-1]


def _rewritten(name: str, value: str, prefix: str) -> str:
    if name == "id":
        return prefix + value
    if name == "href" and value.startswith("#"):
        return f"#{prefix}{value[1:]}"
    value = re.sub(r"url\(#([^)]*)\)", rf"url(#{prefix}\1)", value)
    if name == "style":
        value = value.replace(f"; font-family: {_FONTS}", "")
        for colour, variable in _VARIABLES.items():
            value = value.replace(colour, f"var({variable})")
    return value
