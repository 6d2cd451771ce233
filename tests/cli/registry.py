# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline with a GStreamer registry that is not made yet and that it makes itself, so that its plugin files are loaded into it."""
import json
import os
import shutil
import subprocess

import harness
from harness import Skip, model, png, run, work, write

PLUGINS = os.environ["SIGHTLINE_TEST_PLUGINS"]
PIPELINE = """[parameters]
model=%s
[pipeline]
launch=videotestsrc pattern=blue num-buffers=3 ! video/x-raw,format=RGB,width=32,height=32 ! slpredict model=${model} ! sloverlay ! fakesink
"""


def fresh(name, **more):
    """The environment of a first start: no registry file, and no other process that would load plugins to make it."""
    environment = dict(os.environ, GST_REGISTRY=work(name + ".registry"), GST_REGISTRY_FORK="no", GST_PLUGIN_PATH=PLUGINS, **more)
    if os.path.exists(environment["GST_REGISTRY"]):
        os.remove(environment["GST_REGISTRY"])
    return environment


def predicts(environment):
    picture = png("blue.png", 32, 32, (0, 0, 255))
    result = run("predict", "--json", "--model", model("brightest_channel.tflite"), picture, env=environment)
    assert result.status == 0 and json.loads(result.out)["labels"][0]["label"] == "blue", result
    assert "GLib" not in result.err, result
    return result


def test_predict():
    environment = fresh("predict")
    predicts(environment).expect(0)
    assert os.path.exists(environment["GST_REGISTRY"])
    predicts(environment).expect(0)


def test_predict_without_scanner():
    """Where the program that loads plugins for GStreamer does not start, of which it warns, they come into the process, too."""
    predicts(dict(fresh("scanner", GST_PLUGIN_SCANNER=work("no-such-scanner"), GST_PLUGIN_SCANNER_1_0=work("no-such-scanner")),
                  GST_REGISTRY_FORK="yes"))


def test_run_and_check():
    description = write("blue.pipeline", (PIPELINE % model("brightest_channel.tflite")).encode())
    for command in (["check"], ["run", "--json"]):
        result = run(*command, description, env=fresh(command[0]))
        assert result.status == 0, result
        assert "CRITICAL" not in result.err and "WARNING" not in result.err, result


def test_registry_is_good():
    """What the program wrote serves others: each of our plugin files is in it with its elements, none as one that failed."""
    inspect = shutil.which("gst-inspect-1.0")
    if inspect is None:
        raise Skip("gst-inspect-1.0 is not installed")
    environment = fresh("good")
    predicts(environment)
    environment["GST_REGISTRY_UPDATE"] = "no"
    failed = subprocess.run([inspect, "--print-blacklist"], env=environment, capture_output=True, text=True, check=True).stdout
    assert "libgstsightline" not in failed, failed
    elements = subprocess.run([inspect], env=environment, capture_output=True, text=True, check=True).stdout
    for line in ("sightline:  slinfer: ", "sightline:  slpredict: ", "sightlinepublish:  slpublish: "):
        assert line in elements, elements


harness.main(globals())
