# SPDX-License-Identifier: LGPL-2.1-or-later
"""A Vala program, compiled against the .vapi files and run. Arguments: ANYTHING MAKE_MODELS VALAC VAPI_DIR BUILD_DIR."""
import os
import subprocess
import sys

sys.path[:0] = [os.path.join(os.environ["SIGHTLINE_SOURCE_ROOT"], "tests", "cli")]
import harness
from harness import model, work, write

ROOT = os.environ["SIGHTLINE_SOURCE_ROOT"]
VALAC, VAPI_DIR, BUILD = sys.argv[3:6]
PROGRAM = b"""
int main (string[] args) {
  try {
    var predictor = new Sl.Predictor (args[1]);
    uint8[] pixels = {};
    for (int i = 0; i < 200; i++) {
      pixels += 0; pixels += 51; pixels += 204;
    }
    var found = predictor.predict_bytes ("RGB", 20, 10, new Bytes (pixels));
    foreach (unowned Sl.Object thing in found.get_objects ()) {
      unowned Sl.Box box = thing.get_box ();
      stdout.printf ("%s %.1f %.1f %.1f %.1f %d\\n", thing.get_label (), box.x, box.y, box.width, box.height, thing.get_keypoints ().length);
    }
    Sl.Object kept = found.get_object (0);
    found = null;
    stdout.printf ("%s %s\\n", kept.get_label (), string.joinv (" ", Sl.Frame.dup_formats ()).substring (0, 9));
    var parameters = new HashTable<string, string> (str_hash, str_equal);
    parameters["model"] = args[1];
    var pipeline = new Sl.Pipeline.from_string (
      "videotestsrc pattern=blue num-buffers=1 ! slnormalize ! slinfer model=${model} ! slpostprocess ! fakesink", parameters);
    pipeline.start ();
    stdout.printf ("%u\\n", pipeline.pull_predictions (-1).get_n_objects ());
    pipeline.stop ();
  } catch (Error e) {
    stderr.printf ("%s\\n", e.message);
    return 1;
  }
  return 0;
}
"""


def build():
    """The program's path; built once."""
    path = work("vala")
    if not os.path.exists(path):
        more = ["-I" + os.path.join(ROOT, "include")]
        more += ["-L" + os.path.join(BUILD, folder) for folder in ("", "pipelines")]
        more += ["-lsightline-1.0", "-lsightline-pipeline-1.0", "-w"]
        done = subprocess.run([VALAC, "--vapidir", VAPI_DIR, "--pkg", "sightline-1.0", "--pkg", "sightline-pipeline-1.0", "-o", path,
                               write("program.vala", PROGRAM)] + [word for option in more for word in ("-X", option)],
                              capture_output=True, text=True, cwd=harness.WORK.name, timeout=500)
        assert done.returncode == 0, done.stderr + done.stdout
    return path


def test_program():
    done = subprocess.run([build(), model("one_box.tflite")], capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout) == (0, "blue 0.0 2.5 10.0 5.0 0\nblue NV12 NV21\n1\n"), done


def test_error():
    done = subprocess.run([build(), work("none.tflite")], capture_output=True, text=True, timeout=200)
    assert done.returncode == 1 and "none.tflite: no such file" in done.stderr, done


harness.main(globals())
