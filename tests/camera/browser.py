# SPDX-License-Identifier: BSD-3-Clause
"""`lull view` in a real browser: moving pictures of a real sender, what they lack, who has died.

browser.py LULL BUILD [--screenshot FILE]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from chromium import Chromium, executable
from rights import skip
from verdict import check

TIMEOUT_S = 60
# videotestsrc pattern=smpte: seven bars over the upper two thirds
SMPTE = [(255, 255, 255), (255, 255, 0), (0, 255, 255), (0, 255, 0), (255, 0, 255), (255, 0, 0),
         (0, 0, 255)]  # fmt: skip
# lull-cam-source --pattern bars has black besides
BARS = [*SMPTE, (0, 0, 0)]
TOLERANCE = 40
LOSS_PERCENT = 12
SCREENSHOT = ("--demo", "--cameras", "3", "--lose", "0.1")
SCREENSHOT_S = 45
PIXELS = """(() => {
  const canvas = document.querySelectorAll('.tile')[%d].querySelector('canvas.image');
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  return Array.from(%s, ([x, y]) => {
    const at = 4 * (Math.floor(y * canvas.height) * canvas.width + Math.floor(x * canvas.width));
    return [data[at], data[at + 1], data[at + 2]];
  });
})()"""
OVERLAY = """(() => {
  const tile = document.querySelector('.tile');
  if (tile.querySelector('.loss').hidden) return null;
  const canvas = tile.querySelector('canvas.missing');
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let cover = 0;
  for (let at = 0; at < data.length; at += 4) if (data[at] > 150) cover += data[at + 3];
  return {percent: 100 * cover / (255 * 0.55) / (canvas.width * canvas.height),
    text: tile.querySelector('.loss').textContent, reason: tile.dataset.reason};
})()"""
LIVE = "document.getElementById('link').dataset.state === 'live'"


class View:
    """`lull view`, its page and its children."""

    def __init__(self, lull: str, listen: str, *words: str) -> None:
        self.process = subprocess.Popen(
            [lull, "view", "--listen", listen, *words], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.match(r"lull view: (http://(127\.0\.0\.1:\d+)/)", line)
        if found is None:
            self.process.kill()
            raise RuntimeError(f"no page of {words}: {line}")
        self.url, self.address = found.groups()

    def __enter__(self) -> View:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.terminate()
        try:
            self.process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def children(self) -> dict[str, int]:
        """What it has started, by the first 15 letters of the name."""
        found = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = stat.read_text()
            except OSError:
                continue
            if int(words.rpartition(")")[2].split()[1]) == self.process.pid:
                found[words.partition("(")[2].rpartition(")")[0]] = int(stat.parent.name)
        return found

    def kill(self, name: str) -> None:
        os.kill(self.children()[name], signal.SIGKILL)


def near(seen: list[int], wanted: tuple[int, ...]) -> bool:
    return all(abs(one - other) <= TOLERANCE for one, other in zip(seen, wanted, strict=True))


def wait_for_bars(browser: Chromium, kind: str) -> None:
    """The colours of the test pattern; a partial frame would show others for a moment."""
    places = [[(i + 0.5) / 7, 0.3] for i in range(7)]
    if kind == "lull":
        places = [[x / 40, y / 10] for x in range(1, 40) for y in range(1, 10)]
    end = time.monotonic() + TIMEOUT_S
    while True:
        seen = browser.ask(PIXELS % (0, places))
        if kind == "gstreamer":
            good = all(near(one, bar) for one, bar in zip(seen, SMPTE, strict=True))
        else:  # between two bars, colours mix
            good = sum(any(near(one, bar) for bar in BARS) for one in seen) > 0.8 * len(seen)
        if good:
            return
        check(time.monotonic() < end, "the colours of the pattern", seen)
        time.sleep(0.1)


def wait_for_motion(browser: Chromium, tile: int) -> None:
    """Pictures with other numbers, and with other pixels."""
    places = [[x / 64, y / 48] for x in range(64) for y in range(48)]
    number = f"Number(document.querySelectorAll('.tile')[{tile}].dataset.number)"
    before, count = browser.ask(PIXELS % (tile, places)), browser.ask(number)
    browser.wait(f"{number} > {count} + 3")
    end = time.monotonic() + TIMEOUT_S
    while browser.ask(PIXELS % (tile, places)) == before:
        check(time.monotonic() < end, "pictures move", count)
        time.sleep(0.1)


def shows_pictures(browser: Chromium, kind: str) -> None:
    browser.wait("document.querySelectorAll('.tile[data-number]').length === 2")
    browser.wait(LIVE)
    wait_for_bars(browser, kind)
    for tile in (0, 1):
        wait_for_motion(browser, tile)
    browser.wait("[...document.querySelectorAll('.tile [data-of=fps]')]"
                 ".every((one) => Number(one.textContent) > 1)")  # fmt: skip
    browser.wait("document.querySelectorAll('.histogram rect').length > 3")
    browser.wait("document.querySelector('.timeline .rate').getAttribute('points').length > 10")
    for key in ("cpu_percent", "steal_percent"):
        text = browser.ask(f"document.querySelector('[data-of={key}]').textContent")
        check(re.fullmatch(r"[\d.]+ %", text), key, text)
    text = browser.ask("document.querySelector('[data-of=frame]').textContent")
    pixel = "rgb8" if kind == "gstreamer" else "bayer-rg12p"
    check(re.search(rf"frame [\d,]+ .* \d+ \S \d+ {pixel} ", text), "what a frame is", text)


def choose_width(browser: Chromium, width: int) -> None:
    browser.ask("(() => { const select = document.querySelector('[name=width]');"
                f"select.value = '{width}';"
                "select.dispatchEvent(new Event('change', {bubbles: true})); })()")  # fmt: skip


def obeys(browser: Chromium) -> None:
    """Keys, the pause, and the width of previews."""
    for key, full in (("2", "1"), ("Escape", "undefined")):
        browser.press(key)
        seen = browser.ask("String(document.querySelector('.tile.full')?.dataset.stream)")
        check(seen == full, f"key {key}", seen)
    browser.ask("document.querySelector('.picture').focus()")
    browser.press("Enter")
    check(browser.ask("document.querySelector('.tile').matches('.full')"), "full size by Enter")
    browser.ask("document.querySelector('.picture').click()")
    check(browser.ask("!document.querySelector('.tile').matches('.full')"), "back by a click")
    choose_width(browser, 320)
    browser.wait("[...document.querySelectorAll('canvas.image')].every((c) => c.width === 320)")
    browser.ask("document.getElementById('pause').click()")
    number = "Number(document.querySelector('.tile').dataset.number)"
    frames = "Number(document.querySelector('[data-of=complete]').textContent.replace(/,/g, ''))"
    time.sleep(0.2)  # what was being drawn
    stood, seen = browser.ask(number), browser.ask(frames)
    browser.wait(f"{frames} > {seen} + 5")
    check(browser.ask(number) == stood, "pictures stand", stood)
    browser.ask("document.getElementById('pause').click()")
    browser.wait(f"{number} > {stood}")


def tells_of_deaths(browser: Chromium, view: View, sender: str) -> None:
    view.kill(sender[:15])
    notices = "document.getElementById('notices').textContent"
    browser.wait(f"{notices}.includes('{sender} ended by SIGKILL')")
    browser.wait("!document.querySelector('.silence').hidden && "
                 "document.querySelector('.silence').textContent.startsWith('no frames for')"
                 )  # fmt: skip
    view.kill("lull-cam")
    browser.wait(f"{notices}.includes('lull-cam ended by SIGKILL')")


def draws_what_is_missing(browser: Chromium) -> None:
    """Previews as large as the pictures, so that one pixel is one pixel."""
    browser.wait("document.querySelectorAll('.tile').length === 1")
    choose_width(browser, 1280)
    browser.wait("document.querySelector('[data-of=frame]').textContent.includes("
                 "` ${document.querySelector('canvas.missing').width} \\u00d7`)")  # fmt: skip
    for _ in range(3):
        seen = browser.wait(OVERLAY)
        told = float(re.sub(r" % missing: .*", "", seen["text"]))
        check(told > 1, "much is missing", seen)
        check(abs(seen["percent"] - told) < 0.02 * told + 0.1, "red is what is missing", seen)
        check(seen["reason"] in ("deadline", "superseded"), "the reason", seen)
        check(re.search("deadline passed|overtaken", seen["text"]), "in words", seen)
        time.sleep(0.2)
    partial = "document.querySelector('[data-of=partial]').textContent"
    browser.wait(f"Number({partial}.replace(/,/g, '')) > 0")


def run(lull: str) -> None:
    there = shutil.which("gst-launch-1.0") is not None
    with Chromium() as browser:
        browser.call("Page.enable")
        with View(lull, "127.0.0.1:0", "--demo") as view:
            kind = "gstreamer" if "gst-launch-1.0" in view.children() else "lull"
            check(there or kind == "lull", "the sender", view.children())
            browser.open(view.url)
            shows_pictures(browser, kind)
            obeys(browser)
            tells_of_deaths(browser, view,
                            "gst-launch-1.0" if kind == "gstreamer" else "lull-cam-source")
        browser.wait("document.getElementById('link').textContent.startsWith('not connected')")
        lossy = ("--demo", "lull", "--lose", str(LOSS_PERCENT), "--cameras", "1")
        with View(lull, view.address, *lossy) as view:  # the page comes back by itself
            draws_what_is_missing(browser)


def screenshot(lull: str, path: Path) -> None:
    with Chromium() as browser, View(lull, "127.0.0.1:0", *SCREENSHOT) as view:
        browser.open(view.url)
        browser.wait(LIVE)
        time.sleep(SCREENSHOT_S)  # for the lines over time
        browser.ask("document.querySelector('[name=hold]').click()")
        browser.wait("!document.querySelector('.loss').hidden")
        browser.picture(path)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("lull")
    parser.add_argument("build", type=Path)
    parser.add_argument("--screenshot", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    os.environ["LULL_BUILD"] = str(chosen.build.resolve())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    if executable() is None:
        skip("needs chromium")
    if not (Path(chosen.lull).parent / ".venv").is_dir():
        skip("needs .venv, 'make setup' makes it")
    if chosen.screenshot is not None:
        screenshot(chosen.lull, chosen.screenshot)
        return
    begin = time.monotonic()
    run(chosen.lull)
    print(f"ok ({time.monotonic() - begin:.1f} s)")


main()
