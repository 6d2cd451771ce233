# SPDX-License-Identifier: LGPL-2.1-or-later
"""Detectors with landmark models behind them, on objects turned upright: each object's square is computed and read from the picture here, the landmark
model runs on it alone, and its points, put back into the picture, are where the pipeline says."""
import array
import json
import math

from harness import data, main, run, work, write
from media import launch

# As the models were trained: the two points that say how an object is turned, the direction they have when it is upright, side and shift of the
# square by the box's.
KINDS = {"face": ("right_eye", "left_eye", 0, 1.5, 0), "hand": ("wrist", "middle_knuckle", 90, 2.6, -0.5)}
BYTES = 0.1  # between a square's pixels here and there, besides rounding
EXACT = 0.05  # pixels of a landmark model's input, between points of the same codes
PIXELS = 2  # the same where pixels differ by so little as rounding: steps of the 8-bit models' outputs are near one pixel


def play(*words):
    """What a pipeline of ours, in the program itself, writes into its last element, a filesink."""
    out = work("out")
    result = run("run", write("chain.pipeline", ("[pipeline]\nlaunch=" + " ".join(words) + " ! filesink location=" + out + "\n").encode()))
    assert result.status == 0, result
    with open(out, "rb") as file:
        return file.read()


def decoded(name):
    """The start of a pipeline that decodes a picture."""
    return ["filesrc", "location=" + data("images", name), "!", "decodebin", "!", "videoconvert", "!", "video/x-raw,format=RGB", "!"]


def picture(name, width, height):
    """The picture's rows of R, G, B."""
    path = work("pixels")
    launch(*decoded(name), "filesink", "location=" + path)
    with open(path, "rb") as file:
        pixels = file.read()
    stride = len(pixels) // height
    return [pixels[y * stride:y * stride + 3 * width] for y in range(height)]


def square(thing, kind, width, height):
    """Centre, side and angle of what shows the object upright."""
    first, second, upright, scale, shift = KINDS[kind]
    points = {point["name"]: (point["x"] * width, point["y"] * height) for point in thing["keypoints"]}
    box = thing["detection"]["bounding_box"]
    w, h = (box["x_max"] - box["x_min"]) * width, (box["y_max"] - box["y_min"]) * height
    angle = math.radians(upright) + math.atan2(points[second][1] - points[first][1], points[second][0] - points[first][0])
    x = (box["x_max"] + box["x_min"]) / 2 * width - shift * h * math.sin(angle)
    y = (box["y_max"] + box["y_min"]) / 2 * height + shift * h * math.cos(angle)
    return x, y, max(w, h) * scale, angle


def to_picture(part, side, x, y):
    """Point (x, y) of a tensor of side x side pixels, in the picture."""
    across, down = (x / side - 0.5) * part[2], (y / side - 0.5) * part[2]
    return (part[0] + across * math.cos(part[3]) - down * math.sin(part[3]), part[1] + across * math.sin(part[3]) + down * math.cos(part[3]))


def read(rows, width, height, x, y):
    """The colour at (x, y), between four pixels; grey beyond the picture."""
    if not (0 <= x <= width and 0 <= y <= height):
        return 114, 114, 114
    left, top = math.floor(x - 0.5), math.floor(y - 0.5)
    fx, fy = x - 0.5 - left, y - 0.5 - top
    columns = [min(max(left + i, 0), width - 1) for i in (0, 1)]
    upper, lower = [rows[min(max(top + i, 0), height - 1)] for i in (0, 1)]
    return [(1 - fy) * ((1 - fx) * upper[3 * columns[0] + c] + fx * upper[3 * columns[1] + c]) +
            fy * ((1 - fx) * lower[3 * columns[0] + c] + fx * lower[3 * columns[1] + c]) for c in range(3)]


def landmarks(model, codes, side, part):
    """The model's points in the picture, of a tensor of the square @part: the first operator of both models makes such codes of floats."""
    run("infer", "--model", model, "--input", write("square", array.array("f", ((code + 1) / 127.5 for code in codes)).tobytes()), "--output", work("points"))
    out = array.array("f")
    with open(work("points.0.bin"), "rb") as file:
        out.frombytes(file.read())
    return [to_picture(part, side, *out[i:i + 2]) for i in range(0, len(out), 3)]


def distances(some, others, side, part):
    """Between points, in pixels of the model's input, least first."""
    return sorted(math.dist(a, b) * side / part[2] for a, b in zip(some, others))


def check(kind, detector, name, side, count, shot_name):
    model = data("wild", "models", name)
    launch(*decoded(shot_name), "fakesink")
    line = play(*decoded(shot_name), *detector, "!", "slpredict", "model=" + model, "mean=127.5", "std=127.5", "object-alignment=" + kind, "threshold=0.2",
                "!", "application/x-json")
    tensors = array.array("b", play(*decoded(shot_name), *detector, "!", "slnormalize", "objects=true", "object-alignment=" + kind, "!", "tee", "name=t",
                                    "t.", "!", "queue", "!", "slinfer", "model=" + model, "mean=127.5", "std=127.5", "!", "fakesink", "t.", "!", "queue"))
    width, height = [json.loads(line)["resolution"][key] for key in ("width", "height")]
    rows = picture(shot_name, width, height)
    things = json.loads(line)["objects"]
    assert things and len(tensors) == len(things) * 3 * side * side, (line, len(tensors))
    for i, thing in enumerate(things):
        inner, = thing["objects"]
        assert inner["keypoints"][0]["name"] == ("wrist" if kind == "hand" else None), inner["keypoints"][0]
        part = square(thing, kind, width, height)
        seen = tensors[i * 3 * side * side:(i + 1) * 3 * side * side]
        wanted = [value - 128.5 for y in range(side) for x in range(side) for value in read(rows, width, height, *to_picture(part, side, x + 0.5, y + 0.5))]
        worst = max(abs(a - b) for a, b in zip(seen, wanted)) - 0.5
        assert worst < BYTES, ("the square's pixels", worst, part)
        got = [(point["x"] * width, point["y"] * height) for point in inner["keypoints"]]
        exact = distances(got, landmarks(model, seen, side, part), side, part)
        assert len(exact) == count and exact[-1] < EXACT, ("where the points lie", len(exact), exact[-1])
        apart = distances(got, landmarks(model, map(round, wanted), side, part), side, part)
        print("# %s of %s, turned by %.1f degrees: %.3f bytes, %.4f pixels of %d; of pixels computed here %.2f at most, %.2f in the middle" %
              (kind, shot_name, math.degrees(part[3]), worst, exact[-1], side, apart[-1], apart[count // 2]))
        assert kind != "face" or apart[count // 2] < PIXELS, apart


def test_faces():
    detector = ["slpredict", "model=" + data("wild", "models", "blazeface_front_128.tflite"), "mean=0", "std=255", "fit=letterbox"]
    check("face", detector, "face_landmarks_192.tflite", 192, 468, "face.jpg")


def test_hands():
    """The landmark model's quantised number of whether there is a hand is 0.21 of whatever it sees."""
    detector = ["slpredict", "model=" + data("wild", "models", "palm_detection_full_192.tflite"), "fit=letterbox", "threshold=0.3"]
    check("hand", detector, "hand_landmark_3d_256_integer_quant.tflite", 256, 21, "asl_A1.jpg")


def test_followed():
    """The detector looks at every fifth frame of a picture that moves; faces are found in all, where their landmarks were in the frame before, until
    there is none."""
    width, height, moving, step = 512, 355, 7, 8
    launch(*decoded("face.jpg"), "fakesink")
    rows = picture("face.jpg", width, height)
    frames = [b"".join(bytes(3 * step * n) + row[:3 * (width - step * n)] for row in rows) for n in range(moving)] + [bytes(3 * width * height)] * 5
    shots = ["filesrc", "location=" + write("moving", b"".join(frames)), "!", "rawvideoparse", "format=rgb", "width=%d" % width, "height=%d" % height,
             "framerate=10/1", "!"]
    launch(*shots, "fakesink")
    chain = ["slpredict", "model=" + data("wild", "models", "blazeface_front_128.tflite"), "mean=0", "std=255", "fit=letterbox", "inference-interval=5", "!",
             "slnormalize", "objects=true", "object-alignment=face", "follow-landmarks=%s", "!", "slinfer",
             "model=" + data("wild", "models", "face_landmarks_192.tflite"), "mean=127.5", "std=127.5", "!", "slpostprocess", "!", "application/x-json"]
    found = {}
    for follows in ("false", "true"):
        out = play(*shots, *[word % follows if "%s" in word else word for word in chain])
        found[follows] = {line["frame"]: [thing for thing in line["objects"] if "objects" in thing] for line in map(json.loads, out.splitlines())}
    assert [frame for frame, faces in found["false"].items() if faces] == [0, 5], found["false"]
    assert [frame for frame, faces in found["true"].items() if faces] == list(range(moving)), found["true"]
    meshes = {frame: [[(point["x"] * width - step * frame, point["y"] * height) for point in face["objects"][0]["keypoints"]] for face in faces]
              for frame, faces in found["true"].items()}
    for frame in range(moving):
        assert len(meshes[frame]) == 2, (frame, len(meshes[frame]))
        for mesh in meshes[frame]:
            apart = min(sum(map(math.dist, mesh, first)) / len(mesh) for first in meshes[0])
            assert apart < 5, ("pixels of the picture", frame, apart)


main(globals())
