# SPDX-License-Identifier: LGPL-2.1-or-later
"""Servers that are told about events, and pipelines that have some."""
import contextlib
import http.server
import json
import threading

from harness import Skip, model, run, write
from running import PATIENCE, Running

ZONE = "[zone %s]\npoints=0,0 1,0 1,1 0,1\n"


class Hook:
    """An HTTP server that answers with the next of `answers`, the last one for ever, and keeps what it got. An answer is a status, a pair of it and headers, None to hang up, or an Event to wait for."""

    def __init__(self, *answers, location=None, address="127.0.0.1"):
        self.got, left = [], list(answers)
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                hook.got.append((self.path, dict(self.headers), body, self.command))
                answer = left.pop(0) if len(left) > 1 else left[0]
                if isinstance(answer, threading.Event):
                    answer.wait(PATIENCE)
                    answer = None
                if answer is None:
                    self.close_connection = True
                    return
                status, headers = answer if isinstance(answer, tuple) else (answer, {"Location": location} if location else {})
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_PUT = do_GET = do_POST

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def notices(self):
        return [json.loads(body) for _, _, body, _ in self.got]


def describe(name, notify, zones=("way",), more="", tail="fakesink"):
    """Blue frames, of which each has the same object in all zones."""
    text = "[pipeline]\nname=door\nlaunch=videotestsrc is-live=true pattern=blue ! video/x-raw,width=80,height=40,framerate=20/1 ! slpredict model=%s ! sltrack ! " \
           "slanalyze confirm=1 ! %s\n%s" % (model("one_box.tflite"), tail, more) + "".join(ZONE % zone for zone in zones) + ("[notify]\n" + notify if notify else "")
    return write(name + ".pipeline", text.encode())


@contextlib.contextmanager
def watching(*args):
    built = run("--version").out.split("without")[0]
    if "libsoup" not in built:
        raise Skip("this build has no libsoup")
    it = Running(*args)
    try:
        yield it
    finally:
        it.child.kill()
        it.child.wait()
        it.reader.join()


def log_of(running):
    with running.changed:
        return "".join(line for line in running.lines if line)
