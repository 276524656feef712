"""The report in Chromium: nothing fetched, nothing logged, everything reachable, axe content, and it prints.

Needs Debian's chromium, playwright, and axe-core: AXE_CORE names axe.min.js, by default that of node_modules. Where CI
is set, what is missing is a failure, not a skip.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import TRUTH, crowd, everything, hostile

from fairbounds.demo import audit_embedded
from fairbounds.report.html import write_html

ROOT = Path(__file__).parents[2]
ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
PAGES = ("demo", "full", "nasty", "many")


def missing(what: str) -> None:
    """Skip, or fail where continuous integration must have it."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is not installed")
    pytest.skip(f"{what} is not installed")


def chromium() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        missing("chromium")
    assert found is not None
    return found


def axe() -> str:
    named = os.environ.get("AXE_CORE")
    path = Path(named) if named else ROOT / "node_modules" / "axe-core" / "axe.min.js"
    if not path.is_file():
        missing(f"axe-core ({path})")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        missing("playwright")
    with sync_playwright() as machinery:
        running = machinery.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        yield running
        running.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the pages: the demo, and those that show everything or try to break it."""
    made = tmp_path_factory.mktemp("pages")
    found, truth = audit_embedded("adult")
    write_html(found, made / "demo.html", truth=truth, title="Fairness audit of the adult data")
    write_html(everything(), made / "full.html", truth=TRUTH)
    write_html(hostile(), made / "nasty.html")
    write_html(crowd(), made / "many.html")
    return made


@pytest.fixture(params=PAGES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Opened:
    """A page, what it logged and what it asked for."""

    def __init__(self, browser: Any, path: Path, size: tuple[int, int], **options: Any) -> None:
        self.logged: list[str] = []
        self.asked: list[str] = []
        self.context = browser.new_context(viewport=dict(zip(("width", "height"), size, strict=True)), **options)
        self.page = self.context.new_page()
        self.page.on("console", lambda said: self.logged.append(f"{said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.logged.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.mark.parametrize("size", SIZES)
def test_it_asks_for_nothing_but_itself_logs_nothing_and_fits_the_window(
    browser: Any, folder: Path, name: str, size: str
) -> None:
    path = folder / f"{name}.html"
    with Opened(browser, path, SIZES[size]) as opened:
        assert opened.asked == [path.as_uri()]
        assert opened.logged == []
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
        assert opened.page.evaluate("document.scripts.length") == 0
        if os.environ.get("SCREENSHOTS"):
            opened.page.screenshot(path=Path(os.environ["SCREENSHOTS"]) / f"{name}-{size}.png", full_page=True)


@pytest.mark.parametrize("name", ["demo", "full", "nasty"])
@pytest.mark.parametrize(("size", "scheme"), [("phone", "dark"), ("desktop", "light")])
def test_axe_finds_nothing_serious(browser: Any, folder: Path, name: str, size: str, scheme: str) -> None:
    source = axe()
    with Opened(browser, folder / f"{name}.html", SIZES[size], color_scheme=scheme, bypass_csp=True) as opened:
        opened.page.evaluate(source)
        rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
        found = opened.page.evaluate("rules => axe.run(document, rules)", rules)
        assert found["passes"]
        serious = [
            (entry["id"], entry["impact"], [node["html"][:200] for node in entry["nodes"][:3]])
            for entry in found["violations"]
            if entry["impact"] in ("serious", "critical", "moderate")
        ]
        assert serious == []


def test_every_table_and_link_is_reached_by_keyboard(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "full.html", SIZES["phone"]) as opened:
        page = opened.page
        stops = page.evaluate("document.querySelectorAll('a[href], [tabindex=\"0\"]').length")
        reached = []
        for _ in range(stops):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
        assert len(set(reached)) == stops
        assert reached == sorted(reached)
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.evaluate("document.querySelector('.scroll').focus()")
        scrolled = "document.querySelector('.scroll').scrollLeft > 0"
        for _ in range(100):  # a key pressed before the first frame is drawn scrolls nothing
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(100)
            if page.evaluate(scrolled):
                break
        assert page.evaluate(scrolled)


def test_without_script_it_says_the_same(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "full.html", SIZES["desktop"]) as opened:
        said = opened.page.inner_text("main")
    with Opened(browser, folder / "full.html", SIZES["desktop"], java_script_enabled=False) as opened:
        assert opened.page.locator("main").inner_text() == said


def test_no_name_becomes_markup(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "nasty.html", SIZES["desktop"]) as opened:
        assert opened.page.locator("main script, main img, main b:not(.axis b)").count() == 0
        assert "<script>alert(1)</script>" in opened.page.inner_text("main")


def test_it_prints_on_a4(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "demo.html", SIZES["desktop"]) as opened:
        printed = opened.page.pdf(prefer_css_page_size=True)
    assert printed.startswith(b"%PDF")
    box = next(part for part in printed.split(b"/MediaBox")[1:])
    width, height = (float(number) for number in box.split(b"[")[1].split(b"]")[0].split()[2:4])
    assert (round(width), round(height)) == (595, 842)
