# SPDX-License-Identifier: LGPL-2.1-or-later
"""The systemd unit, judged by systemd's own programs; and the recipe of headless-kiosk, followed line by line."""
import os
import re
import shutil
import subprocess
import sys
import time

import harness
from harness import Skip, model, work

UNIT = sys.argv[3]
KIOSK = os.path.join(harness.ROOT, "pipelines", "ready", "headless-kiosk.pipeline")
PATIENCE = 200  # seconds that a busy machine may take for anything


def unit():
    """Settings of the unit: {name: [values]}."""
    settings = {}
    with open(UNIT, encoding="utf-8") as file:
        for line in file:
            if re.match(r"\w+=", line):
                name, value = line.strip().split("=", 1)
                settings.setdefault(name, []).append(value)
    return settings


def analyze(*args):
    program = shutil.which("systemd-analyze")
    if program is None:
        raise Skip("no systemd-analyze")
    version = int(re.search(r"\d+", subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout)[0])
    if version < 250:
        raise Skip("systemd-analyze %d has no --offline" % version)
    return subprocess.run([program] + list(args), capture_output=True, text=True, stdin=subprocess.DEVNULL)


def installed_unit():
    """The unit with the program and its manual page where they are now."""
    folder = work("units")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "sightline@.service")
    with open(UNIT, encoding="utf-8") as source, open(path, "w", encoding="utf-8") as target:
        text = re.sub(r"^ExecStart=\S+", "ExecStart=" + harness.PROGRAM, source.read(), flags=re.M)
        target.write(text.replace("man:sightline(1)", "file:" + os.path.join(harness.ROOT, "tools", "data", "sightline.1")))
    return path


def test_score():
    done = analyze("security", "--offline=true", "--no-pager", installed_unit())
    score = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    assert score is not None, done
    assert float(score[1]) < 3, done.stdout


def test_verify():
    done = analyze("verify", installed_unit())
    about = [line for line in done.stderr.splitlines() if "sightline" in line]
    assert done.returncode == 0 and about == [], done


def test_what_it_needs():
    """Cameras, the network, its folder, and what it reads of the processor."""
    settings = unit()
    assert "char-video4linux rw" in settings["DeviceAllow"] and settings["SupplementaryGroups"] == ["video"]
    assert "PrivateDevices" not in settings and "PrivateNetwork" not in settings and "IPAddressDeny" not in settings
    assert {"AF_UNIX", "AF_INET", "AF_INET6"} <= set(settings["RestrictAddressFamilies"][0].split())
    assert "ProcSubset" not in settings
    for name, folder in (("StateDirectory", "sightline/%i"), ("CacheDirectory", "sightline/%i"), ("WorkingDirectory", "%S/sightline/%i")):
        assert settings[name] == [folder], settings


def commands_of_recipe():
    """Comment lines of the file that are indented: what a user types."""
    with open(KIOSK, encoding="utf-8") as file:
        return [line[4:].rstrip("\n") for line in file if line.startswith("#   ")]


def test_recipe():
    """From nothing to predictions: files made as the recipe says, the program started as the unit says, in a folder of its own."""
    root, recipe = work("root"), commands_of_recipe()
    script = "\n".join(recipe[:recipe.index("END") + 1])
    for theirs, ours in (("/etc/sightline", root + "/etc/sightline"), ("/usr/share/sightline/pipelines", os.path.dirname(KIOSK)),
                         ("/srv/models/ssd_mobilenet_v1.tflite", model("one_box.tflite"))):
        assert theirs in script, script
        script = script.replace(theirs, ours)
    subprocess.run(["sh", "-e"], input=script, text=True, check=True)
    variable = [line for line in recipe if line.startswith("SIGHTLINE_SET_source=")]
    assert len(variable) == 1 and "systemctl enable --now sightline@door" in recipe, recipe
    state = os.path.join(root, "var/lib/sightline/door")
    os.makedirs(state)
    start = unit()["ExecStart"][0].split()
    at = start.index("$SIGHTLINE_OPTIONS")
    command = [harness.PROGRAM] + start[1:at] + ["--json", "--stop-timeout=60s", os.path.join(root, "etc/sightline/door.pipeline")]
    assert start[1] == "run" and start[at + 1].endswith("/sightline/%i.pipeline"), start
    env = dict(os.environ, SIGHTLINE_SET_source="test://?pattern=blue", SIGHTLINE_SET_file_bytes="3000", SIGHTLINE_SET_keep_files="2")
    child = subprocess.Popen(command, cwd=state, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + PATIENCE
    while not os.path.exists(os.path.join(state, "predictions.json.2")) and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    child.terminate()
    _, err = child.communicate(timeout=PATIENCE)
    if b"no element" in err:
        raise Skip("an element is missing")
    files = set(os.listdir(state))
    assert child.returncode == 0 and {"predictions.json.1", "predictions.json.2"} <= files and "predictions.json.3" not in files, (files, err)
    with open(os.path.join(state, "predictions.json.1"), encoding="utf-8") as file:
        assert '"source":"door"' in file.readline().replace(" ", "")


def test_environment():
    """--set comes before the environment, that before the file; names with '-' have '_' there."""
    path = harness.write("env.pipeline", b"[parameters]\nfirst-one=file\nother=file\n[pipeline]\nlaunch=fakesrc name=${first-one} ! ${other} ! fakesink\n")
    env = dict(os.environ, SIGHTLINE_SET_first_one="environment", SIGHTLINE_SET_other="nonsense", SIGHTLINE_SET_unknown="x")
    assert 'no element "nonsense"' in harness.run("run", path, env=env).err
    assert 'no element "said"' in harness.run("run", path, "--set", "other=said", env=env).err
    assert 'no element "file"' in harness.run("run", path).err


harness.main(globals())
