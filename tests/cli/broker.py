# SPDX-License-Identifier: LGPL-2.1-or-later
"""A broker of the tests."""
import re
import shutil
import subprocess

from harness import Skip, reserve_port
from running import PATIENCE, answers, eventually


class Broker:
    """mosquitto on a free port, and all that it was told."""

    def __init__(self):
        if any(shutil.which(tool) is None for tool in ("mosquitto", "mosquitto_pub", "mosquitto_sub")):
            raise Skip("mosquitto is not installed")
        self.port = reserve_port()
        self.child = subprocess.Popen(["mosquitto", "-p", str(self.port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(lambda: answers(self.port))
        self.ear = subprocess.Popen(["mosquitto_sub", "-p", str(self.port), "-t", "#", "-F", "%t %x", "-W", str(PATIENCE)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.heard = []

    def hear(self, topic, payload=None):
        """Until a message was heard since the last clearing, on a topic with such a name, of that payload if it is told."""
        while not any(re.search(topic, t) and payload in (None, p) for t, p in self.heard):
            told, _, content = self.ear.stdout.readline().decode().rstrip("\n").rpartition(" ")
            assert told, "mosquitto_sub is gone"
            self.heard.append((told, bytes.fromhex(content).decode("utf-8", "replace")))

    def say(self, topic, payload, *more):
        """A payload of bytes goes through standard input."""
        content = ["-s"] if isinstance(payload, bytes) else ["-m", payload]
        subprocess.run(["mosquitto_pub", "-p", str(self.port), "-t", topic, *content, *more], check=True, timeout=PATIENCE, input=payload if isinstance(payload, bytes) else None)

    def close(self):
        for child in (self.ear, self.child):
            child.kill()
            child.wait()
        self.ear.stdout.close()
