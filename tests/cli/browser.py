# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real browser without a window, driven over two pipes by Chromium's DevTools protocol. Standard library only."""
import base64
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
        self.child = subprocess.Popen([program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                                       "--remote-debugging-pipe", "--user-data-dir=" + self.folder.name, "about:blank"],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      preexec_fn=lambda: (os.dup2(from_us, 13), os.dup2(to_us, 14), os.dup2(13, 3), os.dup2(14, 4)),
                                      pass_fds=(3, 4, from_us, to_us), env=dict(os.environ, HOME=self.folder.name))
        os.close(from_us)
        os.close(to_us)
        self.number, self.rest, self.session = 0, b"", None
        self.problems = []  # what the page's script threw
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Runtime.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
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
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)["result"].get("value")

    def wait_for(self, expression, patience=100):
        """Seconds from the page's opening until the expression was true."""
        deadline = time.monotonic() + patience
        while not self.value(expression):
            assert time.monotonic() < deadline, "%s: never true; %s" % (expression, self.problems)
            time.sleep(0.02)
        return time.monotonic() - self.opened

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" else "")

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]))

    def close(self):
        self.child.terminate()
        self.child.wait()
        os.close(self.read_end)
        os.close(self.write_end)
        self.folder.cleanup()
