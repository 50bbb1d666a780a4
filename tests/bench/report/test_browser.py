"""The page as a reader meets it: in a real browser, wide and narrow."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest

from scisuite.bench.report import write_html

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None, reason="needs chromium and chromedriver, which are not installed"
)

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
)

OVERLAPS = """
  const found = [];
  for (const svg of document.querySelectorAll("svg.plot")) {
    const boxes = [...svg.querySelectorAll("text")]
      .filter((text) => text.textContent.trim())
      .map((text) => [text.textContent, text.getBoundingClientRect()]);
    const frame = svg.getBoundingClientRect();
    boxes.forEach(([name, a], i) => {
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1)
        found.push(["outside", svg.getAttribute("aria-label"), name]);
      for (const [other, b] of boxes.slice(i + 1)) {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1 && down > 3) found.push(["overlap", svg.getAttribute("aria-label"), name, other]);
      }
    });
  }
  return found;
"""
UNDRAWN = """
  return [...document.querySelectorAll("svg.plot")].filter((svg) => {
    const box = svg.getBoundingClientRect();
    const lines = [...svg.querySelectorAll("g[id*='-arm'] path, g[id*='-claim'] path")];
    const drawn = lines.filter((path) => { const b = path.getBBox(); return b.width + b.height > 0; });
    return box.width < 100 || box.height < 50 || drawn.length === 0;
  }).map((svg) => svg.getAttribute("aria-label"));
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(executable_path=DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory, make_rows, make_experiment, arms) -> str:
    rows = make_rows(arms[:10], seeds=6)
    rows[-1].update(status="error", error="a.py:1 in f\nEngineFailure: it stopped", metrics={}, curves={})
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_html(rows, path, "scisuite bench demo", experiments={"demo": make_experiment(arms[:10])})
    return path.as_uri()


@pytest.fixture
def opened(browser, page) -> webdriver.Chrome:
    show(browser, page, 1280)
    return browser


def show(browser: webdriver.Chrome, page: str, width: int, scheme: str = "light") -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(page)


def column(browser: webdriver.Chrome, index: int) -> list[str]:
    script = (
        "return [...document.querySelectorAll('#claims-table tbody tr')].filter(r => !r.hidden)"
        ".map(r => r.cells[arguments[0]].querySelector('.value, code, .badge').textContent)"
    )
    return browser.execute_script(script, index)


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_draws_without_errors_overflow_or_overlap(browser, page, width):
    show(browser, page, width)
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    # Forest, and for each of two scenarios the shared and the small panels; accuracy against cost.
    assert browser.execute_script("return document.querySelectorAll('svg.plot').length") == 6
    assert browser.execute_script(UNDRAWN) == []
    assert browser.execute_script(OVERLAPS) == []
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(overflow) <= 0
    ids = browser.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_claims_sort_by_click_and_by_keyboard(opened):
    heads = opened.find_elements(By.CSS_SELECTOR, "#claims-table thead th")
    names = [head.text.rstrip("↕").strip() for head in heads]
    ours = names.index("ours [95 %]")
    assert {head.get_attribute("aria-sort") for head in heads} == {"none"}
    heads[ours].find_element(By.TAG_NAME, "button").click()
    assert heads[ours].get_attribute("aria-sort") == "ascending"
    values = [float(text.replace("−", "-")) for text in column(opened, ours) if text != "–"]
    assert values == sorted(values)
    assert column(opened, ours)[-1] == "–"
    heads[ours].find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    assert heads[ours].get_attribute("aria-sort") == "descending"
    assert [float(text.replace("−", "-")) for text in column(opened, ours) if text != "–"] == values[::-1]
    assert column(opened, ours)[-1] == "–"
    heads[1].find_element(By.TAG_NAME, "button").send_keys(Keys.SPACE)
    assert heads[ours].get_attribute("aria-sort") == "none"
    assert column(opened, 1) == sorted(column(opened, 1))


def test_claims_filter_by_words_and_by_verdict(opened):
    everything = column(opened, 1)
    status = opened.find_element(By.ID, "claims-shown")
    assert status.text == f"Showing {len(everything)} of {len(everything)} claims"
    box = opened.find_element(By.ID, "claims-filter")
    box.send_keys("AUC random")
    assert column(opened, 1) == ["demo.tiny"]
    assert status.text == f"Showing 1 of {len(everything)} claims"
    box.clear()
    box.send_keys("x", Keys.BACKSPACE)
    assert column(opened, 1) == everything
    fails = opened.find_element(By.CSS_SELECTOR, "[data-filter=fails]")
    fails.send_keys(Keys.SPACE)
    assert fails.get_attribute("aria-pressed") == "true"
    assert set(column(opened, 0)) == {"✗ fails"}
    opened.find_element(By.CSS_SELECTOR, "[data-filter=holds]").click()
    assert set(column(opened, 0)) == {"✗ fails", "✓ holds"}
    fails.click()
    assert set(column(opened, 0)) == {"✓ holds"}


def test_rows_can_be_read_and_the_command_copied(opened, make_rows, arms):
    rows = json.loads(opened.execute_script("return document.getElementById('rows').textContent"))
    assert len(rows) == 120
    copy = opened.find_element(By.CSS_SELECTOR, "#repeat ~ .copyable .copy")
    copy.click()
    opened.implicitly_wait(2)
    assert opened.find_element(By.XPATH, "//button[text()='Copied']").is_displayed()
    opened.implicitly_wait(0)


def test_dark_scheme_turns_page_and_plots(browser, page):
    colours = []
    for scheme in ("light", "dark"):
        show(browser, page, 1280, scheme)
        colours.append(
            browser.execute_script(
                "return [getComputedStyle(document.body).backgroundColor, "
                "getComputedStyle(document.querySelector('svg.plot text')).fill]"
            )
        )
    (light_page, light_text), (dark_page, dark_text) = colours
    assert light_page == "rgb(255, 255, 255)"
    assert brightness(dark_page) < 60 < 180 < brightness(dark_text)
    assert brightness(light_text) < 60


def brightness(colour: str) -> float:
    return sum(float(part) for part in colour[4:-1].split(",")) / 3


def test_hostile_strings_run_nothing_and_break_nothing(browser, tmp_path, make_rows):
    text = "</script><script>window.hacked=1</script><!--<script>\"'><img src=x onerror='window.hacked=1'>" + "W" * 200
    rows = make_rows(["labo"], ["s"], seeds=2)
    for row in rows:
        curve = {"x": [1, 2], "y": [1.0, 2.0], "x_label": text, "y_label": text}
        row.update(key=text, experiment=text, tier=text, arm=text, scenario=text, curves={text: curve})
        row.update(metrics={text: 1.0}, environment={text: text})
    rows[1].update(status="error", error=text)
    for width in (1280, 400):
        show(browser, write_html(rows, tmp_path / "hostile.html", text).as_uri(), width)
        assert browser.get_log("browser") == []
        assert browser.execute_script("return window.hacked") is None
        assert browser.execute_script("return document.querySelectorAll('script').length") == 2
        overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.execute_script(overflow) <= 0
