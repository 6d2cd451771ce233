# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline get, sightline zoo and zoo:NAME, with a server on the loopback address in place of npm's."""
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tarfile
import threading

from harness import PROGRAM, ROOT, Skip, Terminal, main, model, png, png_of, run, work, write
from zoo_server import Server, Zoo, archive, sha256


def one_sentence(result):
    lines = result.err.strip().split("\n")
    assert len(lines) == 1 and "CRITICAL" not in lines[0], result.err
    return result


def test_get():
    """A package is downloaded, the model compared and found by its name; a second time nothing is downloaded."""
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()
        before = zoo.run("inspect", "zoo:one").expect(1, "sightline inspect: zoo:one: the model is not in %s; run: sightline get one" % zoo.place)
        one_sentence(before)
        assert not server.requests
        path = zoo.get("one").expect(0).out.strip()
        assert path == os.path.join(zoo.place, "one", "m.tflite")
        zoo.check_whole()
        assert server.requests == [(place, None)]
        assert zoo.get("zoo:one").expect(0).out.strip() == path and len(server.requests) == 1
        assert json.loads(zoo.run("zoo", "one", "--measure", "--json").expect(0).out)["measured_ms"] > 0
        assert "ms         0." in zoo.run("zoo", "one", "--measure").expect(0).out
        assert path in zoo.run("inspect", "zoo:one").expect(0).out
        assert "letterbox" in zoo.run("inspect", "zoo:one").expect(0).out
        zoo.run("serve", "--http", "127.0.0.1:0", "zoo:one", "zoo:one").expect(1, "two models are called one: name one, as NAME=FILE")
        picture = png("zoo.png", 64, 48, (9, 9, 9))
        assert picture in zoo.run("predict", "--model", "zoo:one", picture).expect(0).out


def test_damaged_cache_is_fetched_again():
    with Server() as server:
        zoo = Zoo(server)
        zoo.row()
        path = zoo.get("one").expect(0).out.strip()
        with open(path, "r+b") as file:
            file.write(b"broken")
        zoo.get("one").expect(0)
        zoo.check_whole()
        zoo.row(licence="Apache-2.0")  # the same files: only the row is written again
        zoo.get("one").expect(0)
        zoo.check_whole()
        assert len(server.requests) == 2
        with open(os.path.join(zoo.place, "one", "zoo.ini"), encoding="utf-8") as file:
            assert "licence=Apache-2.0" in file.read()
        zoo.row(labels_source="names.txt", labels_sha256=sha256(b"x\n"))
        zoo.get("one").expect(0)
        assert len(server.requests) == 3 and os.path.exists(os.path.join(zoo.place, "one", "one.txt"))


def test_two_of_one_package():
    """Rows of one package are one download."""
    with Server() as server:
        zoo = Zoo(server)
        zoo.row("one", package="@some/pack")
        place = zoo.row("two", package="@some/pack")
        assert len(zoo.get("one", "two").expect(0).out.split()) == 2
        assert server.requests == [(place, None)]
        zoo.check_clean({"one", "two"})


def test_allow_download():
    with Server() as server:
        zoo = Zoo(server)
        zoo.row()
        assert "m.tflite" in zoo.run("inspect", "--allow-download", "zoo:one").expect(0).out
        picture = png("zoo.png", 64, 48, (9, 9, 9))
        zoo.row("two", package="other")
        zoo.run("predict", "--allow-download", "--model=zoo:two", picture).expect(0)
        zoo.run("predict", "--allow-download", "--model", "zoo:none", picture).expect(1, "sightline get: the zoo (sightline zoo) has no model 'none'")
        assert len(server.requests) == 2


def test_unknown_name():
    zoo = Zoo()
    zoo.row("face_short")
    zoo.row("face_full")
    one_sentence(zoo.get("face_shot").expect(1, "the zoo (sightline zoo) has no model 'face_shot'; did you mean 'face_short'?"))
    one_sentence(zoo.run("inspect", "zoo:face_shot").expect(1, "zoo:face_shot: the zoo (sightline zoo) has no model 'face_shot'"))
    for name in ("../face_short", "", ".", "a/b"):
        zoo.run("inspect", "zoo:" + name).expect(1, "has no model '%s'" % name)
    one_sentence(zoo.get("x", env={"SIGHTLINE_ZOO": "/nowhere"}).expect(1, "the table of models is not at /nowhere; install Sightline, or set SIGHTLINE_ZOO"))


def test_usage():
    zoo = Zoo()
    zoo.get().expect(2, "expected the name of a model")
    zoo.get("a", "b", "--sha256", "00").expect(2, "--sha256 is of one model")
    zoo.run("zoo", "a", "b").expect(2, "expected one name, or --task without a name")
    zoo.row()
    zoo.run("zoo", "--task", "cooking").expect(2, "--task cooking: expected one of: 'detection'")


def test_to():
    """Copies into a folder, labels too."""
    with Server() as server:
        zoo = Zoo(server)
        zoo.row(labels_source="names.txt", labels_sha256=sha256(b"x\n"))
        to = os.path.join(zoo.folder, "models", "here")
        path = zoo.get("one", "--to", to).expect(0).out.strip()
        assert path == os.path.join(to, "m.tflite")
        assert sorted(os.listdir(to)) == ["m.tflite", "m.tflite.modelinfo", "one.txt"]
        one_sentence(zoo.get("one", "--to", path + "/x").expect(1, "one: --to %s/x: cannot be made" % path))


def test_slice_and_parts():
    """A model within a file, and one in several files."""
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row("one", slice="5,%d" % len(zoo.model))
        server.files[place] = archive([("package/sub/m.tflite", b"12345" + zoo.model + b"rest")])
        zoo.get("one").expect(0)
        zoo.check_whole()
        half = len(zoo.model) // 2
        place = zoo.row("two", package="other", parts="b c")
        server.files[place] = archive([("package/c", zoo.model[half:]), ("package/b", b""), ("package/sub/m.tflite", zoo.model[:half])])
        zoo.get("two").expect(0)
        place = zoo.row("three", package="third", slice="99999999,%d" % len(zoo.model))
        server.files[place] = archive([("package/sub/m.tflite", zoo.model)])
        zoo.get("three").expect(1, "expected a file of at least")
        zoo.check_clean({"one", "two"})


def test_long_names():
    """Names of pax, GNU tar and ustar, and what other programs add."""
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT):
        with Server() as server:
            zoo = Zoo(server)
            name = "/".join(["d" * 60, "e" * 60, "m.tflite"])
            place = zoo.row(source="npm:pack@1.0.0/" + name)
            server.files[place] = archive([("package/" + "k" * 90, b"1" * 513), ("package/" + name, zoo.model)], form=form)
            zoo.get("one").expect(0)
            zoo.check_whole()


def test_refused_archives():
    """Names that leave the folder, links, missing files, what is no archive: one sentence, nothing is kept."""
    link, hard = tarfile.TarInfo("package/sub/m.tflite"), tarfile.TarInfo("package/sub/m.tflite")
    link.type, link.linkname, hard.type, hard.linkname = tarfile.SYMTYPE, "/etc/passwd", tarfile.LNKTYPE, "package/x"
    with Server() as server:
        zoo = Zoo(server)
        good = ("package/sub/m.tflite", zoo.model)
        whole = archive([good])
        cases = [(archive([("package/../../evil", b"x"), good]), "has a file 'package/../../evil' outside of its folder"),
                 (archive([("/etc/evil", b"x"), good]), "has a file '/etc/evil' outside of its folder"),
                 (archive([link]), "is a link or a folder; expected a file"), (archive([hard]), "is a link or a folder"),
                 (archive([("package/other", b"x")]), "the archive has no file sub/m.tflite"),
                 (b"no archive", "the archive is damaged after 0 unpacked bytes"), (b"", "the archive is truncated"),
                 (whole[:len(whole) // 2], "the archive is truncated: it ends after"), (archive([good], kind="tar"), "the archive is damaged")]
        for number, (content, sentence) in enumerate(cases):
            name = "n%d" % number
            place = zoo.row(name, package="p%d" % number)
            server.files[place] = content
            one_sentence(zoo.get(name).expect(1, "sightline get: %s: " % name, sentence))
            zoo.check_clean()


def test_gzip_bomb():
    """What unpacks to far more than the row states is refused without being written."""
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()
        server.files[place] = archive([("package/sub/m.tflite", bytes(50 << 20))])
        one_sentence(zoo.get("one").expect(1, "the file has more than the %d bytes that the row states" % len(zoo.model)))
        zoo.check_clean()


def test_wrong_hash():
    with Server() as server:
        zoo = Zoo(server)
        other = bytes([zoo.model[0] ^ 1]) + zoo.model[1:]
        zoo.row(content=other)
        one_sentence(zoo.get("one").expect(1, "expected sha256 %s, got %s" % (sha256(zoo.model), sha256(other)), "nothing of it was kept"))
        zoo.check_clean()
        zoo.row("two", package="short", content=zoo.model[:-1])
        one_sentence(zoo.get("two").expect(1, "expected %d bytes, got %d" % (len(zoo.model), len(zoo.model) - 1)))
        zoo.row("three", labels_source="names.txt", labels_sha256="0" * 64)
        one_sentence(zoo.get("three").expect(1, "expected sha256 000000"))
        zoo.check_clean()


def test_statuses():
    """Answers without the file."""
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()
        del server.files[place]
        one_sentence(zoo.get("one").expect(1, "%s%s: expected the file, got the status 404" % (server.address, place), "SIGHTLINE_ZOO_MIRROR"))
        server.handle = lambda request: request.status(503) or True
        one_sentence(zoo.get("one").expect(1, "the status 503", "try again later"))
        server.handle = lambda request: request.status(302, Location=request.path + "x") or True
        one_sentence(zoo.get("one").expect(1, "the servers send on more than 5 times"))
        server.handle = lambda request: request.status(302, Location="ftp://127.0.0.1/x") or True
        one_sentence(zoo.get("one").expect(1, "the server sends on to 'ftp://127.0.0.1/x': expected an https address"))
        zoo.check_clean()


def test_redirect():
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()
        server.files["/elsewhere"] = server.files.pop(place)
        server.handle = lambda request: request.path == place and (request.status(302, Location="/elsewhere") or True)
        zoo.get("one").expect(0)
        zoo.check_whole()


def test_huge():
    """More bytes than the row states are refused by what the server announces, and by what it sends."""
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row(download=1000)
        server.files[place] = bytes(5000)
        one_sentence(zoo.get("one").expect(1, "the server sends 5000 bytes or more: expected at most 1000"))

        def endless(request):
            request.send_response(200)
            request.send_header("Transfer-Encoding", "chunked")
            request.end_headers()
            while True:
                request.wfile.write(b"10\r\n" + bytes(16) + b"\r\n")

        server.handle = endless
        one_sentence(zoo.get("one").expect(1, "bytes or more: expected at most 1000"))
        assert all(os.path.getsize(os.path.join(zoo.place, ".work", name)) == 0 for name in os.listdir(os.path.join(zoo.place, ".work")))


def cut(server, place, at):
    """The server ends each connection after @at bytes of the file, but says how many there are."""

    def handle(request):
        content = server.files[place]
        if "Range" in request.headers:
            return False
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content[:at])
        return True

    server.handle = handle


def test_resume():
    """A download that ends early is continued by a range; one that cannot be says how far it came."""
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()
        at = len(server.files[place]) // 2
        cut(server, place, at)
        zoo.get("one").expect(0)
        zoo.check_whole()
        assert server.requests == [(place, None), (place, "bytes=%d-" % at)], server.requests


def test_resume_by_the_next_process():
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()
        at = len(server.files[place]) // 2
        cut(server, place, at)
        first, ranged = server.handle, []
        server.handle = lambda request: first(request) or (not ranged and (ranged.append(1) or request.status(503) or True))
        one_sentence(zoo.get("one").expect(1, "the status 503"))
        zoo.check_clean(parts=1)
        server.requests.clear()
        zoo.get("one").expect(0)
        zoo.check_whole()
        assert server.requests == [(place, "bytes=%d-" % at)]


def test_resume_of_other_bytes():
    """A part file of other bytes is found by the hash, and all is downloaded again."""
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()
        name = sha256((server.address + place).encode())[:16] + ".part"
        os.makedirs(os.path.join(zoo.place, ".work"))
        for content in (b"x" * 300, bytes(len(server.files[place]) + 9)):
            with open(os.path.join(zoo.place, ".work", name), "wb") as file:
                file.write(content)
            server.requests.clear()
            shutil.rmtree(os.path.join(zoo.place, "one"), ignore_errors=True)
            server.handle = lambda request: "Range" in request.headers and len(content) > 300 and (request.status(416) or True)
            zoo.get("one").expect(0)
            zoo.check_whole()
            assert server.requests == [(place, "bytes=%d-" % len(content)), (place, None)], server.requests


def test_resume_of_more_than_the_row_states():
    """A part file that is longer than the row's download is not continued."""
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()
        zoo.row(download=len(server.files[place]))
        os.makedirs(os.path.join(zoo.place, ".work"))
        with open(os.path.join(zoo.place, ".work", sha256((server.address + place).encode())[:16] + ".part"), "wb") as file:
            file.write(bytes(len(server.files[place]) + 1))
        zoo.get("one").expect(0)
        zoo.check_whole()
        assert server.requests == [(place, None)], server.requests


def test_truncated_for_good():
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()

        def handle(request):
            request.send_response(200)
            request.send_header("Content-Length", str(len(server.files[place])))
            request.end_headers()
            request.wfile.write(server.files[place][:100])
            return True

        server.handle = handle
        one_sentence(zoo.get("one").expect(1, "the download ended after 100 bytes", "run the command again, it continues"))
        zoo.check_clean(parts=1)


def test_slow():
    """Small pieces, far apart: all of them count, and a terminal sees the progress."""
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()
        seen = threading.Event()

        def handle(request):
            content = server.files[place]
            request.send_response(200)
            request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            request.wfile.write(content[:10])
            while not seen.wait(0.05):
                content = content
            request.wfile.write(content[10:])
            return True

        server.handle = handle
        child = subprocess.Popen([PROGRAM, "get", "one"], env=zoo.environment, stdout=subprocess.PIPE)
        try:
            part = os.path.join(zoo.place, ".work", sha256((server.address + place).encode())[:16] + ".part")
            while not (os.path.exists(part) and os.path.getsize(part) == 10):
                assert child.poll() is None
        finally:
            seen.set()
        assert child.wait() == 0
        child.stdout.close()
        zoo.check_whole()


def stalled(server, place, at):
    """The server sends @at bytes, and the rest after the event; Returns (event that bytes were sent, event to go on)."""
    sent, go_on = threading.Event(), threading.Event()

    def handle(request):
        if sent.is_set():
            return False
        content = server.files[place]
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content[:at])
        request.wfile.flush()
        sent.set()
        go_on.wait()
        request.wfile.write(content[at:])
        return True

    server.handle = handle
    return sent, go_on


def wait_for_part(zoo, server, place, size, child):
    part = os.path.join(zoo.place, ".work", sha256((server.address + place).encode())[:16] + ".part")
    while not (os.path.exists(part) and os.path.getsize(part) == size):
        assert child.poll() is None


def test_killed():
    """kill -9 in the middle leaves no model; the next process continues."""
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()
        sent, go_on = stalled(server, place, 200)
        child = subprocess.Popen([PROGRAM, "get", "one"], env=zoo.environment)
        try:
            wait_for_part(zoo, server, place, 200, child)
        finally:
            child.kill()
            child.wait()
            go_on.set()
        assert sent.is_set()
        zoo.check_clean(parts=1)
        os.makedirs(os.path.join(zoo.place, ".work", "one-abcdef"))
        write(os.path.join(zoo.place, ".work", "one-abcdef", "m.tflite"), b"half")
        zoo.get("one").expect(0)
        zoo.check_whole()
        assert server.requests[-1] == (place, "bytes=200-")


def test_interrupted():
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()
        _, go_on = stalled(server, place, 200)
        child = subprocess.Popen([PROGRAM, "get", "one"], env=zoo.environment, stderr=subprocess.PIPE)
        try:
            wait_for_part(zoo, server, place, 200, child)
            child.send_signal(signal.SIGINT)
        finally:
            status = child.wait()
            go_on.set()
            child.stderr.close()
        assert status == 130, status
        zoo.check_clean(parts=1)


def test_two_at_once():
    """The second process waits for the first, and finds the model there."""
    with Server() as server:
        zoo = Zoo(server)
        place = zoo.row()
        sent, go_on = stalled(server, place, 200)
        first = subprocess.Popen([PROGRAM, "get", "one"], env=zoo.environment, stdout=subprocess.PIPE)
        try:
            assert sent.wait(120)
            second = subprocess.Popen([PROGRAM, "get", "one"], env=zoo.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            assert b"one: another process fetches it: waiting" in second.stderr.readline()
        finally:
            go_on.set()
        assert first.communicate()[0] == second.communicate()[0]
        assert first.returncode == 0 and second.returncode == 0
        assert len(server.requests) == 1
        zoo.check_whole()


def test_full_disk():
    """A file system that takes no more bytes."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

    with Server() as server:
        zoo = Zoo(server)
        zoo.row()
        one_sentence(zoo.get("one", preexec_fn=limit).expect(1, ".part: cannot be written after 300 of up to", "make room and run the command again, it continues"))
        zoo.check_clean(parts=1)
        zoo.get("one").expect(0)
        zoo.check_whole()


def test_no_permission():
    zoo = Zoo()
    zoo.row()
    path = write("no-folder", b"")
    one_sentence(zoo.get("one", env={"XDG_CACHE_HOME": path}).expect(1, "%s/sightline/zoo/.work: the cache cannot be made" % path, "set XDG_CACHE_HOME"))


def test_no_network():
    zoo = Zoo()
    zoo.row()
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        address = "http://127.0.0.1:%d" % held.getsockname()[1]
        result = zoo.get("one", env={"npm_config_registry": address})
    one_sentence(result.expect(1, address + "/pack/-/pack-1.0.0.tgz: no connection: ", "check the network and https_proxy"))


def test_mirror_folder():
    """A folder in place of the registry; packages and other files."""
    zoo = Zoo()
    zoo.row()
    zoo.row("two", source="https://example.org/some/m.tflite")
    folder = os.path.join(zoo.folder, "mirror")
    os.makedirs(os.path.join(folder, "pack", "-"))
    os.makedirs(os.path.join(folder, "example.org", "some"))
    with open(os.path.join(folder, "pack", "-", "pack-1.0.0.tgz"), "wb") as file:
        file.write(archive([("package/sub/m.tflite", zoo.model)]))
    with open(os.path.join(folder, "example.org", "some", "m.tflite"), "wb") as file:
        file.write(zoo.model)
    for mirror in (folder, "file://" + folder + "/"):
        shutil.rmtree(zoo.cache, ignore_errors=True)
        zoo.get("one", "two", env={"SIGHTLINE_ZOO_MIRROR": mirror}).expect(0)
        zoo.check_clean({"one", "two"})
    zoo.row("three", package="missing")
    one_sentence(zoo.get("three", env={"SIGHTLINE_ZOO_MIRROR": folder}).expect(1, "%s/missing/-/missing-1.0.0.tgz: cannot be read: " % folder))


def test_mirror_server_and_settings():
    with Server() as server:
        zoo = Zoo()
        zoo.server = server
        zoo.row("one", package="@some/pack")
        zoo.get("one", env={"SIGHTLINE_ZOO_MIRROR": server.address + "/"}).expect(0)
        shutil.rmtree(zoo.cache)
        for line in ("registry = %s\n", "registry=http://127.0.0.1:9\n@some:registry=%s\n"):
            write(os.path.join(zoo.folder, ".npmrc"), b"; a comment\n" + (line % server.address).encode())
            zoo.get("one").expect(0)
            shutil.rmtree(zoo.cache)
        for address in ("ftp://x", "registry", "relative/folder"):
            one_sentence(zoo.get("one", env={"SIGHTLINE_ZOO_MIRROR": address}).expect(1, "SIGHTLINE_ZOO_MIRROR: expected https://HOST, http://HOST or the absolute path of a folder, got"))
        one_sentence(zoo.get("one", env={"SIGHTLINE_ZOO_MIRROR": "https://me:hunter2@host"}).expect(1, "has a user or a password in it"))
        assert "hunter2" not in zoo.get("one", env={"SIGHTLINE_ZOO_MIRROR": "https://me:hunter2@host"}).err


def test_proxy():
    """The environment's proxy is asked; no_proxy names hosts that are not."""
    with Server() as server, Server() as proxy:
        zoo = Zoo(server)
        place = zoo.row()
        proxy.files[server.address + place] = server.files[place]
        zoo.get("one", env={"http_proxy": proxy.address}).expect(0)
        assert [path for path, _ in proxy.requests] == [server.address + place] and not server.requests
        shutil.rmtree(zoo.cache)
        zoo.get("one", env={"http_proxy": proxy.address, "no_proxy": "127.0.0.1"}).expect(0)
        assert len(server.requests) == 1
        shutil.rmtree(zoo.cache)
        proxy.handle = lambda request: request.status(403) or True
        one_sentence(zoo.get("one", env={"http_proxy": proxy.address}).expect(1, "the status 403"))
        one_sentence(zoo.get("one", env={"https_proxy": proxy.address, "npm_config_registry": "https://registry.invalid"}).expect(
            1, "https://registry.invalid/pack/-/pack-1.0.0.tgz: ", "the proxy refused the connection", "correct https_proxy"))
        proxy.handle = lambda request: "Proxy-Authorization" not in request.headers and (request.status(407, **{"Proxy-Authenticate": 'Basic realm="x"'}) or True)
        one_sentence(zoo.get("one", env={"http_proxy": proxy.address}).expect(1, "the proxy asks for a password"))
        zoo.get("one", env={"http_proxy": proxy.address.replace("//", "//me:hunter2@")}).expect(0)
        secure = {"https_proxy": proxy.address.replace("//", "//me:hunter2@"), "npm_config_registry": "https://registry.invalid"}
        shutil.rmtree(zoo.cache)
        proxy.requests.clear()
        one_sentence(zoo.get("one", env=secure).expect(1, "https://registry.invalid/pack/-/pack-1.0.0.tgz: "))
        assert [path for path, _ in proxy.requests] == 2 * ["registry.invalid:443"], proxy.requests


def certificate():
    if shutil.which("openssl") is None:
        raise Skip("no openssl")
    key, cert = work("key.pem"), work("cert.pem")
    if not os.path.exists(cert):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=127.0.0.1",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return cert, key


def test_tls():
    """A certificate that nobody vouches for is refused; npm's cafile can vouch."""
    with Server(certificate()) as server:
        zoo = Zoo(server)
        zoo.row()
        one_sentence(zoo.get("one").expect(1, "the server's certificate is not trusted", "npm_config_cafile"))
        zoo.check_clean()
        zoo.get("one", env={"npm_config_cafile": certificate()[0]}).expect(0)
        zoo.check_whole()
        one_sentence(zoo.get("one", "--to", zoo.folder, env={"npm_config_cafile": "/nowhere", "XDG_CACHE_HOME": zoo.folder}).expect(1, "npm's setting cafile: /nowhere"))


def test_no_tls_library():
    zoo = Zoo(GIO_MODULE_DIR=work("nowhere"))
    zoo.row()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = "https://127.0.0.1:%d" % server.getsockname()[1]
        one_sentence(zoo.get("one", env={"npm_config_registry": address}).expect(1, "no library for https is here: install glib-networking and ca-certificates"))


def test_never_from_https_to_http():
    with Server(certificate()) as secure, Server() as plain:
        zoo = Zoo(secure, npm_config_cafile=certificate()[0])
        zoo.row()
        secure.handle = lambda request: request.status(302, Location=plain.address + request.path) or True
        one_sentence(zoo.get("one").expect(1, "the server sends on to '%s/pack/-/pack-1.0.0.tgz': expected an https address" % plain.address))
        assert not plain.requests


def test_rows_without_a_hash():
    """Rows that were not tried need the hash from the user."""
    zoo = Zoo()
    zoo.row(source="https://example.org/m.tflite", sha256=None, size=None, tried="no")
    folder = os.path.join(zoo.folder, "mirror")
    os.makedirs(os.path.join(folder, "example.org"))
    with open(os.path.join(folder, "example.org", "m.tflite"), "wb") as file:
        file.write(zoo.model)
    mirror = {"SIGHTLINE_ZOO_MIRROR": folder}
    one_sentence(zoo.get("one", env=mirror).expect(1, "the row of one was not tried and states no hash", "state --sha256 HEX"))
    zoo.get("one", "--sha256", "ab", env=mirror).expect(2, "--sha256 ab: expected 64 digits 0-9 and a-f")
    one_sentence(zoo.get("one", "--sha256", "a" * 64, env=mirror).expect(1, "expected sha256 aaa"))
    zoo.get("one", "--sha256", sha256(zoo.model), env=mirror).expect(0)
    zoo.check_whole()
    zoo.row("two")
    one_sentence(zoo.get("two", "--sha256", "a" * 64).expect(1, "--sha256 %s: the row of two states %s" % ("a" * 64, sha256(zoo.model))))


def test_list():
    zoo = Zoo()
    zoo.row("b")
    zoo.row("a", task="faces", gives="no: nothing takes it", licence="Apache-2.0", ms="1.5", input="128x128")
    lines = zoo.run("zoo").expect(0).out.split("\n")
    assert re.split(" {2,}", lines[0].strip())[:2] == ["name", "task"] and lines[1].startswith("b ") and lines[2].startswith("a "), lines
    assert "1.5" in lines[2] and "128x128" in lines[2]
    assert zoo.run("zoo", "--task", "faces").expect(0).out.count("\n") == 2
    found = [json.loads(line) for line in zoo.run("zoo", "--json").expect(0).out.splitlines()]
    assert [(row["name"], row["decoded"], row["here"]) for row in found] == [("b", True, False), ("a", False, False)]
    out = zoo.run("zoo", "a").expect(0).out
    assert "licence    Apache-2.0\n" in out and "fit=letterbox" in out and "no; sightline get fetches it" in out, out


def test_recipe():
    """quantize does what the row says, unless the command line says how."""
    with Server() as server:
        zoo = Zoo(server)
        with open(model("trained_unit.tflite"), "rb") as file:
            zoo.model = file.read()
        zoo.row(quantize="--float16", int8="no: it is too small")
        zoo.get("one").expect(0)
        command = ("quantize", "zoo:one", "--mean", "0", "--std", "1", "-o", os.path.join(zoo.folder, "less.tflite"))
        result = one_sentence(zoo.run(*command).expect(0, "sightline quantize: zoo:one: by its recipe, --float16"))
        assert "agreement  not measured" in result.out
        zoo.run(*command, "--weights-only").expect(1, "no node of it can have such weights")
        assert "recipe" not in zoo.run(*command, "--method", "minmax").expect(2, "--calibrate SOURCE is required").err
        one_picture = png_of("one.png", 8, 8, [bytes(range(row, row + 24 * 9, 9)) for row in range(8)])
        zoo.row(quantize="--min-agreement 0.9")
        zoo.run(*command, "--calibrate", one_picture).expect(1, "by its recipe, --min-agreement 0.9", "5 pictures or more to compare some")
        zoo.row(quantize="no: it loses the small faces")
        zoo.run(*command, "--float16").expect(0)
        zoo.run(*command, "--calibrate", png("recipe.png", 8, 8, (9, 99, 9))).expect(1, "zoo:one: no recipe holds: it loses the small faces")
        zoo.row(quantize="--bogus")
        zoo.run(*command).expect(2, "--bogus")
        assert "quantize   --bogus" in zoo.run("zoo", "one").expect(0).out
        assert json.loads(zoo.run("zoo", "one", "--json").expect(0).out)["quantize"] == "--bogus"


def test_eval():
    """A model by its name is right about the box that it finds itself."""
    with Server() as server:
        zoo = Zoo(server)
        zoo.row()
        zoo.get("one").expect(0)
        folder = os.path.join(zoo.folder, "pictures")
        os.makedirs(folder)
        os.rename(png("eval.png", 64, 48, (0, 51, 204)), os.path.join(folder, "a.png"))
        found = json.loads(zoo.run("predict", "--json", "--model", "zoo:one", os.path.join(folder, "a.png")).expect(0).out)["objects"]
        assert found
        with open(os.path.join(folder, "a.txt"), "w", encoding="utf-8") as file:
            for one in found:
                box = one["detection"]["bounding_box"]
                file.write("%d %f %f %f %f\n" % (one["detection"]["label_id"], (box["x_min"] + box["x_max"]) / 2, (box["y_min"] + box["y_max"]) / 2,
                                               box["x_max"] - box["x_min"], box["y_max"] - box["y_min"]))
        out = zoo.run("eval", "zoo:one", "--dataset", folder).expect(0).out
        assert re.search(r"^zoo:one +boxes +1\.0000", out, flags=re.M), out


def test_bad_rows():
    """A row that is wrong is refused with its file and key."""
    for keys, sentence in (({"file": "../x"}, "[zoo] file: expected the name of a file, got '../x'"), ({"source": "http://x/y"}, "[zoo] source: expected npm:"),
                           ({"source": "npm:pack/x"}, "[zoo] source: expected npm:"), ({"source": "npm:p@1/../x"}, "[zoo] source: expected npm:"),
                           ({"source": "npm:a/b@1/x"}, "[zoo] source: expected npm:"), ({"sha256": "0"}, "[zoo] sha256: expected 64 digits"),
                           ({"size": "-1"}, "[zoo] size: expected a number of bytes"), ({"slice": "1"}, "[zoo] slice: expected FIRST,LENGTH"),
                           ({"tried": "perhaps"}, "[zoo] tried: expected yes or no"), ({"licence": None}, "[zoo] licence: missing"),
                           ({"sha256": None}, "tried=yes: expected sha256"), ({"page": "x"}, "[zoo] page: expected an https:// address"),
                           ({"labels_source": "x"}, "labels-source and labels-sha256: expected both"), ({"slice": "0,1"}, "slice: expected as many bytes as size"),
                           ({"slize": "1"}, "[zoo] slize: unknown key; did you mean 'slice'?"), ({"parts": "/x"}, "[zoo] parts: expected paths"),
                           ({"parts": "x", "slice": "0,1"}, "slice and parts: expected one of them"), ({"task": "\udcff"}, "[zoo] task: expected UTF-8")):
        zoo = Zoo()
        if keys.get("task") == "\udcff":
            zoo.row()
            write(os.path.join(zoo.rows, "one.ini"), b"[zoo]\ntask=\xff\n")
        else:
            zoo.row(**keys)
        one_sentence(zoo.get("one").expect(1, "%s/one.ini: " % zoo.rows, sentence))
    write(os.path.join(zoo.rows, "one.ini"), b"nothing")
    one_sentence(zoo.get("one").expect(1, "one.ini: not a key file"))
    write(os.path.join(zoo.rows, "one.ini"), b"[other]\nx=1\n")
    one_sentence(zoo.get("one").expect(1, "expected a group [zoo], got none"))


def test_terminal():
    """On a terminal the path is followed by the licence and the next command."""
    with Server() as server:
        zoo = Zoo(server)
        zoo.row()
        environment = {name: zoo.environment[name] for name in ("GIO_USE_PROXY_RESOLVER", "SIGHTLINE_ZOO", "XDG_CACHE_HOME", "HOME", "npm_config_registry", "no_proxy")}
        status, _, screen = Terminal("get", "one", both=True, columns=400, **environment).end()
        assert status == 0 and "licence MIT (https://example.org/one)" in screen and "try: sightline predict --model zoo:one PICTURE" in screen, screen


def test_description():
    """A parameter of a description file that is a path may be zoo:NAME."""
    with Server() as server:
        zoo = Zoo(server)
        zoo.row()
        zoo.get("one").expect(0)
        folder = os.path.join(zoo.folder, "pipe")
    os.makedirs(folder)
    path = write(os.path.join(folder, "p.pipeline"), b"[pipeline]\nlaunch=videotestsrc num-buffers=1 ! slpredict model=${model} ! fakesink\n"
                 b"[parameter model]\ntype=path\ndefault=zoo:one\n")
    zoo.run("run", path).expect(0, "end of stream")
    shutil.rmtree(zoo.cache)
    result = zoo.run("check", path)
    assert result.status != 0 and "run: sightline get one" in result.out + result.err, result


def test_own_rows():
    """Every row of the table is read; at least 25 that a registry serves were tried; no name is twice in one file."""
    found = [json.loads(line) for line in run("zoo", "--json").expect(0).out.splitlines()]
    tried = [row for row in found if row["tried"] and row["source"].startswith("npm:") and row["decoded"]]
    assert len(tried) >= 25, len(tried)
    assert len(found) == len([name for name in os.listdir(os.path.join(ROOT, "models", "zoo", "rows")) if name.endswith(".ini")])
    assert len({row["sha256"] for row in found if "sha256" in row}) == sum("sha256" in row for row in found)


main(globals())
