# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real browser without a window, driven over two pipes by Chromium's DevTools protocol. Standard library only."""
import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from harness import Skip


class Browser:
    """Chromium with one page open; width and height are the window's, dark the preferred colours."""

    def __init__(self, address, width, height, dark=False):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if program is None:
            raise Skip("chromium is not installed")
        self.folder = tempfile.TemporaryDirectory(prefix="sightline-browser-", ignore_cleanup_errors=True)
        from_us, self.write_end = os.pipe()
        self.read_end, to_us = os.pipe()
        # The pipes become 3 and 4 in a shell: here these may be files of Python's.
        pipes = 'exec "$0" "$@" 3</proc/self/fd/%d 4>/proc/self/fd/%d' % (from_us, to_us)
        self.child = subprocess.Popen(["sh", "-c", pipes, program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                                       "--remote-debugging-pipe", "--user-data-dir=" + self.folder.name, "about:blank"],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      pass_fds=(from_us, to_us), env=dict(os.environ, HOME=self.folder.name))
        os.close(from_us)
        os.close(to_us)
        self.number, self.rest, self.session = 0, b"", None
        self.problems = []  # what the page's script threw
        self.workers = {}  # addresses of service workers, and the ids of their registrations
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.colours(dark)
        self.opened = time.monotonic()
        self.call("Page.navigate", url=address)

    def message(self, patience):
        deadline = time.monotonic() + patience
        while b"\0" not in self.rest:
            assert select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))[0], "chromium says nothing"
            data = os.read(self.read_end, 1 << 20)
            assert data, "chromium is gone"
            self.rest += data
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, patience=100, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            request["sessionId"] = self.session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message(patience)
            if message.get("method") == "Runtime.exceptionThrown":
                self.problems.append(message["params"]["exceptionDetails"])
            if message.get("method") == "Log.entryAdded" and message["params"]["entry"]["source"] in ("security", "violation"):
                self.problems.append(message["params"]["entry"])  # of the page's Content-Security-Policy
            if message.get("method") == "ServiceWorker.workerRegistrationUpdated":
                self.workers.update({row["scopeURL"]: row["registrationId"] for row in message["params"]["registrations"]})
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)["result"].get("value")

    def wait_for(self, expression, patience=100):
        """Seconds from the page's opening until the expression was true."""
        deadline = time.monotonic() + patience
        while not self.value(expression):
            assert time.monotonic() < deadline, "%s: never true at %s; %s" % (expression, self.value("location.hash"), self.problems)
            time.sleep(0.02)
        return time.monotonic() - self.opened

    def press(self, key, modifiers=0):
        """A key by its name, such as "a", "ArrowLeft" or "Enter"."""
        text = key if len(key) == 1 else {"Enter": "\r"}.get(key, "")
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=text if kind == "keyDown" and not modifiers else "", modifiers=modifiers,
                      windowsVirtualKeyCode=codes.get(key, ord(key.upper()) if len(key) == 1 else 0))

    def write(self, text):
        """Into whatever has the focus."""
        self.call("Input.insertText", text=text)

    def place(self, selector, x=0.5, y=0.5):
        """A point of the element, in pixels of the window; 0, 0 is its upper left. Waits for the element, scrolls to it, and waits until it stays where it is."""
        find = "document.querySelector(%s)" % json.dumps(selector)
        self.wait_for("!!%s?.getBoundingClientRect().width" % find)
        before, now = None, []
        while before != now:
            before, now = now, self.value(
                "new Promise(answer => requestAnimationFrame(() => requestAnimationFrame(() => { const e = %s; let b = e.getBoundingClientRect(); "
                "if (b.top < 0 || b.bottom > innerHeight) { e.scrollIntoView({ block: 'center' }); b = e.getBoundingClientRect(); } "
                "answer([b.x + b.width * %g, b.y + b.height * %g]); })))" % (find, x, y))
        return now

    def mouse(self, kind, at, down):
        self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", buttons=int(down), clickCount=int(kind != "mouseMoved"))

    def click(self, selector, x=0.5, y=0.5):
        at = self.place(selector, x, y)
        self.mouse("mousePressed", at, True)
        self.mouse("mouseReleased", at, False)

    def drag(self, selector, start, end):
        """With the mouse, between two points of the element."""
        start, end = self.place(selector, *start), self.place(selector, *end)
        self.mouse("mousePressed", start, True)
        for i in range(1, 5):
            self.mouse("mouseMoved", [a + (b - a) * i / 4 for a, b in zip(start, end)], True)
        self.mouse("mouseReleased", end, False)

    def touch_drag(self, selector, start, end):
        """With a finger; a start that is also the end is a tap."""
        start, end = self.place(selector, *start), self.place(selector, *end)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": start[0], "y": start[1]}])
        for i in range(1, 5 if start != end else 1):
            x, y = (a + (b - a) * i / 4 for a, b in zip(start, end))
            self.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def tap(self, selector):
        self.touch_drag(selector, (0.5, 0.5), (0.5, 0.5))

    @contextlib.contextmanager
    def elsewhere(self, session):
        """Calls go to another target; None = the browser itself."""
        before, self.session = self.session, session
        try:
            yield
        finally:
            self.session = before

    def offline(self, off):
        """Whether the network is broken; streams that run end."""
        self.call("Network.enable")
        self.call("Network.emulateNetworkConditions", offline=off, latency=0, downloadThroughput=-1, uploadThroughput=-1)

    def colours(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]))

    def close(self):
        self.child.terminate()
        self.child.wait()
        os.close(self.read_end)
        os.close(self.write_end)
        self.folder.cleanup()
