# SPDX-License-Identifier: LGPL-2.1-or-later
"""A table of models, a cache, and a server on the loopback address in place of npm's."""
import contextlib
import hashlib
import http.server
import io
import os
import re
import ssl
import tarfile
import threading

from harness import SANITIZED, model, run, work

NUMBER = iter(range(1000000))
MODEL = "one_box.tflite"


def archive(members, kind="tgz", form=tarfile.PAX_FORMAT):
    """A packed tar archive of (name, bytes) or TarInfo."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz" if kind == "tgz" else "w", format=form) as tar:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                tar.addfile(info, io.BytesIO(member[1]))
    return out.getvalue()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Server:
    """Answers with the files that it has; @handle may answer a request otherwise, by returning True."""

    def __init__(self, certificate=None):
        outer = self
        self.files, self.requests, self.handle = {}, [], lambda request: False

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_CONNECT(self):
                self.do_GET()

            def do_GET(self):
                outer.requests.append((self.path, self.headers.get("Range")))
                self.close_connection = True
                with contextlib.suppress(ConnectionError):
                    if not outer.handle(self):
                        self.answer()

            def answer(self, content=None):
                content = outer.files.get(self.path) if content is None else content
                first = int(re.match(r"bytes=(\d+)-", self.headers["Range"])[1]) if "Range" in self.headers and content is not None else 0
                if content is None or first > len(content):
                    self.status(404)
                    return
                self.send_response(206 if first else 200)
                if first:
                    self.send_header("Content-Range", "bytes %d-%d/%d" % (first, len(content) - 1, len(content)))
                self.send_header("Content-Length", str(len(content) - first))
                self.end_headers()
                self.wfile.write(content[first:])

            def status(self, number, **headers):
                self.send_response(number)
                self.send_header("Content-Length", "0")
                self.send_header("Connection", "close")
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.address = "http%s://127.0.0.1:%d" % ("s" if certificate else "", self.server.server_port)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.server.shutdown()
        self.server.server_close()


class Zoo:
    """A table of rows, a cache and a server for one test."""

    def __init__(self, server=None, **more):
        self.folder = work("zoo-%d" % next(NUMBER))
        self.rows, self.cache = os.path.join(self.folder, "rows"), os.path.join(self.folder, "cache")
        os.makedirs(self.rows)
        with open(model(MODEL), "rb") as file:
            self.model = file.read()
        self.server = server
        self.environment = {**os.environ, "SIGHTLINE_ZOO": self.rows, "XDG_CACHE_HOME": self.cache, "HOME": self.folder, "NO_PROXY": "", "no_proxy": "",
                            "GIO_USE_PROXY_RESOLVER": "dummy"}  # not the system's: libproxy throws C++ exceptions, which no sanitizer of C has
        if SANITIZED:  # LeakSanitizer crashes where a thread of GIO's for TLS ends while it looks
            self.environment["ASAN_OPTIONS"] += ":detect_leaks=0"
        for name in list(self.environment):
            if name.lower() in ("http_proxy", "https_proxy", "all_proxy") or name.lower().startswith("npm_config"):
                del self.environment[name]
        if server is not None:
            self.environment["npm_config_registry"] = server.address
        self.environment.update(more)

    def row(self, name="one", package="pack", content=None, **keys):
        """Writes a row and its archive, which the server has; returns the archive's place."""
        content = self.model if content is None else content
        place = "/%s/-/%s-1.0.0.tgz" % (package, package.rpartition("/")[2])
        values = {"task": "detection", "file": "m.tflite", "source": "npm:%s@1.0.0/sub/m.tflite" % package, "size": len(self.model),
                  "sha256": sha256(self.model), "licence": "MIT", "page": "https://example.org/one", "tried": "yes", "gives": "boxes", **keys}
        text = "[zoo]\n" + "".join("%s=%s\n" % (key.replace("_", "-"), value) for key, value in values.items() if value is not None)
        with open(os.path.join(self.rows, name + ".ini"), "w", encoding="utf-8") as file:
            file.write(text + "\n[modelinfo]\nversion=1.0\n\n[sightline]\nfit=letterbox\n")
        if self.server is not None:
            self.server.files[place] = archive([("package/package.json", b"{}"), ("package/sub/m.tflite", content), ("package/names.txt", b"x\n")])
        return place

    def run(self, *args, **more):
        return run(*args, env={**self.environment, **more.pop("env", {})}, **more)

    def get(self, *args, **more):
        return self.run("get", *args, **more)

    @property
    def place(self):
        return os.path.join(self.cache, "sightline", "zoo")

    def check_whole(self, name="one"):
        """The model's folder is whole, and nothing else is taken for one."""
        with open(os.path.join(self.place, name, "m.tflite"), "rb") as file:
            assert file.read() == self.model
        assert sorted(os.listdir(os.path.join(self.place, name))) == ["m.tflite", "m.tflite.modelinfo", "zoo.ini"]
        self.check_clean({name})

    def check_clean(self, names=frozenset(), parts=0):
        """No half-made folders; @parts downloads that can be continued."""
        found = set(os.listdir(self.place)) - {".work"} if os.path.isdir(self.place) else set()
        assert found == set(names), found
        left = os.listdir(os.path.join(self.place, ".work")) if found or os.path.isdir(os.path.join(self.place, ".work")) else []
        assert sum(name.endswith(".part") for name in left) == parts and all(name.endswith((".part", ".lock")) for name in left), left
