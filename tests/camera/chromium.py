# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium, told what to do over its pipe (DevTools protocol, messages end with NUL)."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

TIMEOUT_S = 60
CLOSE_S = 10
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-extensions", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--mute-audio", "--hide-scrollbars",
    "--force-device-scale-factor=1", "--remote-debugging-pipe",
)  # fmt: skip


def executable() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Chromium:
    """One browser with one page; leaving the `with` block ends it and its children."""

    def __init__(self, width: int = 1400, height: int = 900, dark: bool = False) -> None:
        self.folder = tempfile.mkdtemp(prefix="lull-chromium-")
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        dark_words = ["--force-dark-mode"] if dark else []
        words = [
            executable() or "chromium", *OPTIONS, *dark_words, f"--window-size={width},{height}",
            f"--user-data-dir={self.folder}", "about:blank",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "sh", *words],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "HOME": self.folder},
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._rest, self._count, self._session = b"", 0, ""
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._session = ""
        try:
            self.call("Browser.close")
            self.process.wait(CLOSE_S)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command; events that come meanwhile are passed over."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._read()
            if reply.get("id") == self._count:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']}")
                result: dict[str, Any] = reply["result"]
                return result

    def _read(self) -> dict[str, Any]:
        end = time.monotonic() + TIMEOUT_S
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(self._in, 1 << 16) if ready else b""
            if not piece:
                raise RuntimeError("chromium does not answer")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def open(self, url: str) -> None:
        """Go there, and wait until all of it is loaded."""
        self.call("Page.navigate", url=url)
        end = time.monotonic() + TIMEOUT_S
        loaded = f"location.href === {json.dumps(url)} && document.readyState === 'complete'"
        while True:
            try:
                if self.ask(loaded):
                    return
            except RuntimeError:  # the page before is just going
                pass
            if time.monotonic() > end:
                raise RuntimeError(f"{url} does not load")
            time.sleep(0.05)

    def ask(self, expression: str) -> Any:
        """What the page makes of a line of JavaScript."""
        reply = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in reply:
            raise RuntimeError(f"{expression}: {reply['exceptionDetails']}")
        return reply["result"].get("value")

    def wait(self, expression: str, timeout_s: float = TIMEOUT_S) -> Any:
        """Wait until it is true."""
        end = time.monotonic() + timeout_s
        while True:
            value = self.ask(expression)
            if value:
                return value
            if time.monotonic() > end:
                text = self.ask("document.body.innerText")
                raise RuntimeError(f"in vain: {expression}\n{text}")
            time.sleep(0.05)

    def press(self, key: str) -> None:
        """A key, as if typed."""
        text = {"Enter": "\r", "Escape": ""}.get(key, key)
        code = {"Enter": 13, "Escape": 27}.get(key, ord(key[0]))
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                **({"text": text} if text and kind == "keyDown" else {}),
            )

    def picture(self, path: Path) -> None:
        """The page as PNG."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))
