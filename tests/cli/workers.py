# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline run with a model on another machine: what it tells of workers that hang, and how it stops while it waits for one."""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

import harness
from harness import Skip, model, reserve_port, work, write
from running import PATIENCE, STOPPED, Running, answers, eventually, takes_signal

CAMERA = "videotestsrc is-live=true pattern=blue ! video/x-raw,format=RGB,width=64,height=48,framerate=25/1 ! slnormalize"


@contextlib.contextmanager
def broker():
    """A broker's port."""
    if shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin") is None:
        raise Skip("mosquitto is not installed")
    port = reserve_port()
    path = write("mosquitto.conf", b"listener %d 127.0.0.1\nallow_anonymous true\n" % port)
    child = subprocess.Popen([shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin"), "-c", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: answers(port))
        yield port, child
    finally:
        child.kill()
        child.wait()


@contextlib.contextmanager
def worker(port):
    child = subprocess.Popen([harness.PROGRAM, "serve", "toy=" + model("brightest_channel.tflite"), "--location", "mqtt://127.0.0.1:%d/models" % port],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def describe(name, location, more="", settings=""):
    text = "[pipeline]\nlaunch=%s ! slremote name=far location=%s %s ! slpostprocess ! application/x-json ! fakesink\n%s" % (CAMERA, location, more, settings)
    return write(name + ".pipeline", text.encode())


def get(url, path):
    try:
        with urllib.request.urlopen(url + path, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def sample(url, name):
    return float(re.search(r"^%s (\S+)$" % re.escape(name), get(url, "metrics")[1], re.MULTILINE).group(1))


def eventually_unwell(url, reason):
    """Until that is the only reason of /health; a busy machine may have another one before."""
    told = []

    def unwell():
        told[:] = json.loads(get(url, "health")[1])["reasons"]
        return len(told) == 1 and re.fullmatch(reason, told[0])

    try:
        eventually(unwell)
    except AssertionError as problem:
        raise AssertionError("expected %s, got %s" % (reason, told)) from problem


def test_hung_worker():
    """Frames pass without predictions while the only worker hangs, and all is not well."""
    with broker() as (port, broker_child), worker(port) as child:
        path = describe("door", "mqtt://127.0.0.1:%d/models/toy" % port, "deadline=400 contract-timeout=60000", "[http]\nstall=800ms\n")
        running = Running("--http", "127.0.0.1:0", path)
        try:
            url = re.match(r"(http://\S+/) shows", running.wait_for("http")["message"]).group(1)
            predictions = 'sightline_predictions_total{pipeline="door"}'
            frames = 'sightline_remote_frames_total{pipeline="door",element="far",result="%s"}'
            eventually(lambda: get(url, "health")[0] == 200 and sample(url, predictions) > 10)
            assert sample(url, frames % "answered") > 10 and sample(url, frames % "local") == 0
            child.send_signal(signal.SIGSTOP)
            eventually_unwell(url, r"door: no worker has answered far for \d+\.\d s, of 1 that report")
            made, out = sample(url, predictions), sample(url, 'sightline_frames_out_total{pipeline="door"}')
            eventually(lambda: sample(url, frames % "lost") > 3)
            assert sample(url, predictions) == made, "a frame that passes without a prediction is none"
            assert sample(url, 'sightline_remote_workers{pipeline="door",element="far"}') == 1
            assert sample(url, 'sightline_remote_connected{pipeline="door",element="far"}') == 1
            remote, = json.loads(get(url, "pipelines")[1])["pipelines"][0]["remotes"]
            assert remote["element"] == "far" and remote["silence_ms"] > 800 and remote["lost"] > 3 and remote["connected"], remote
            child.send_signal(signal.SIGCONT)
            eventually(lambda: get(url, "health")[0] == 200)
            assert sample(url, predictions) > made
            broker_child.kill()
            eventually_unwell(url, r"door: far has no connection to the broker, and no prediction for \d+\.\d s")
            assert sample(url, 'sightline_remote_connected{pipeline="door",element="far"}') == 0
            running.stop_well()
        finally:
            running.child.kill()


def stops_well(path, ready):
    """Checks that SIGTERM ends the program well when it has got so far. What it waits for comes after ten minutes, or never."""
    running = Running(path, held=10)
    ready()
    time.sleep(0.3)  # it waits for what will never come: there is no event for that
    running.stop_well()


def silent(accepts, greeting=b""):
    """A server that takes connections, or leaves them to the kernel, and says nothing, or nothing after a greeting; whether one came."""
    server = socket.create_server(("127.0.0.1", 0))
    came, peers = threading.Event(), []

    def take():
        with contextlib.suppress(OSError):
            while True:
                peers.append(server.accept()[0])
                peers[-1].sendall(greeting)
                came.set()

    if accepts:
        threading.Thread(target=take, daemon=True).start()
    return server, came


def test_stop_while_waiting():
    """For a broker that is not there, that says nothing, with and without TLS, for a contract, and for the next start."""
    patient = "contract-timeout=600000"
    nothing = lambda: None  # noqa: E731
    stops_well(describe("refused", "mqtt://127.0.0.1:%d/models/toy" % reserve_port(), patient), nothing)
    for scheme in ("mqtt", "mqtts"):
        server, came = silent(True)
        with server:
            stops_well(describe("silent", "%s://127.0.0.1:%d/models/toy" % (scheme, server.getsockname()[1]), patient), lambda: came.wait(PATIENCE))
    stops_well(describe("nameless", "mqtt://nobody.invalid/models/toy", patient), nothing)
    running = Running(describe("again", "mqtt://127.0.0.1:%d/models/toy" % reserve_port(), "contract-timeout=10", "restart=always\nbackoff-min=1h\nbackoff-max=2h\n"))
    running.wait_for("waiting")
    running.stop_well()
    with broker() as (port, _):
        stops_well(describe("contract", "mqtt://127.0.0.1:%d/models/toy" % port, patient), nothing)
        stops_well(describe("fallback", "mqtt://127.0.0.1:%d/models/toy" % port, patient + " fallback=" + model("brightest_channel.tflite")), nothing)


def test_stop_of_a_worker():
    """One that serves for a broker which is not there, one that says nothing, and one that takes the connection and says no more, stops, too."""
    server, came = silent(True)
    polite, _ = silent(True, b"\x20\x03\x00\x00\x00")  # CONNACK of MQTT 5
    with server, polite:
        for port in (reserve_port(), server.getsockname()[1], polite.getsockname()[1]):
            child = subprocess.Popen([harness.PROGRAM, "serve", "toy=" + model("brightest_channel.tflite"), "--location", "mqtt://127.0.0.1:%d/models" % port],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            line = child.stderr.readline()  # of the model, which is loaded
            if port == server.getsockname()[1]:
                assert came.wait(PATIENCE)
            if port == polite.getsockname()[1]:
                line = child.stderr.readline()
                assert b"connected to" in line, line
            started = time.monotonic()
            child.send_signal(signal.SIGTERM)
            rest = child.stderr.read()
            assert child.wait(PATIENCE) == 0 and time.monotonic() - started < STOPPED, (child.returncode, line, rest)
            child.stderr.close()


def test_stop_while_joining():
    """The end comes while the worker says what it serves: the broker's thread has begun a word, and has not ended it."""
    for _ in range(8):
        with socket.create_server(("127.0.0.1", 0)) as broker:
            child = subprocess.Popen([harness.PROGRAM, "serve", "toy=" + model("brightest_channel.tflite"), "--location", "mqtt://127.0.0.1:%d/models" % broker.getsockname()[1]],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            broker.settimeout(PATIENCE)
            connection, _ = broker.accept()
            with connection:
                assert connection.recv(1000)
                connection.sendall(b"\x20\x03\x00\x00\x00")
                assert connection.recv(1)[0] >> 4 == 8  # SUBSCRIBE, which it sends before its report
                child.send_signal(signal.SIGTERM)
                _, told = child.communicate(timeout=PATIENCE)
                assert child.returncode == 0, (child.returncode, told)


def test_early_signals():
    """A signal that comes before anything is loaded is obeyed once it can be."""
    path = describe("early", "mqtt://127.0.0.1:%d/models/toy" % reserve_port(), "contract-timeout=600000")
    for words in (["run", path], ["serve", "toy=" + model("brightest_channel.tflite"), "--location", "mqtt://127.0.0.1:%d/models" % reserve_port()]):
        child = subprocess.Popen([harness.PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while not takes_signal(child.pid, signal.SIGTERM):
            assert child.poll() is None, child.returncode
        child.send_signal(signal.SIGTERM)
        _, told = child.communicate(timeout=PATIENCE)
        assert child.returncode == 0, (words[0], child.returncode, told)


harness.main(globals())
