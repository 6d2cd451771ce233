/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A few lines of Python, or of JavaScript for a runtime that Python lacks, hold the model. They
 * answer a first line "ready NAME", "missing" or "failed REASON", and then to each line with a
 * number as many lines with milliseconds.
 */
#include "tools/bench/compare.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "core/base/fail.h"

/*
 * Arguments: model, threads, shapes of the inputs such as 1x3x8x8,1x4 for what the model leaves
 * open. Inputs are bytes of noise, or floats in 0..1.
 */
#define PYTHON_START                                                               \
  "import sys, time\n"                                                             \
  "model, threads = sys.argv[1], int(sys.argv[2])\n"                               \
  "def noise(np, shape, dtype):\n"                                                 \
  "    r = np.random.RandomState(1)\n"                                             \
  "    f = np.dtype(dtype).kind == 'f'\n"                                          \
  "    return (r.rand(*shape) if f else r.randint(0, 127, shape)).astype(dtype)\n" \
  "def serve(name, run):\n"                                                        \
  "    print('ready', name, flush=True)\n"                                         \
  "    for line in sys.stdin:\n"                                                   \
  "        times = []\n"                                                           \
  "        for i in range(int(line)):\n"                                           \
  "            start = time.perf_counter()\n"                                      \
  "            run()\n"                                                            \
  "            times.append((time.perf_counter() - start) * 1e3)\n"                \
  "        print('\\n'.join('%.6f' % t for t in times), flush=True)\n"             \
  "def main():\n"
#define PYTHON_END           \
  "try:\n"                   \
  "    main()\n"             \
  "except Exception as e:\n" \
  "    print('failed', ' '.join(str(e).split()) or type(e).__name__, flush=True)\n"

static const char tflite_python[] = PYTHON_START
  "    import importlib\n"
  "    for package, path in (('ai_edge_litert', 'ai_edge_litert.interpreter'), ('tflite_runtime', "
  "'tflite_runtime.interpreter'),\n"
  "                          ('tensorflow', 'tensorflow.lite')):\n"
  "        try:\n"
  "            lite, top = importlib.import_module(path), importlib.import_module(package)\n"
  "            import numpy as np\n"
  "            break\n"
  "        except ImportError:\n"
  "            pass\n"
  "    else:\n"
  "        print('missing', flush=True)\n"
  "        return\n"
  "    it = lite.Interpreter(model_path=model, num_threads=threads)\n"
  "    it.allocate_tensors()\n"
  "    for d in it.get_input_details():\n"
  "        it.set_tensor(d['index'], noise(np, d['shape'], d['dtype']))\n"
  "    serve(package + ' ' + getattr(top, '__version__', ''), it.invoke)\n" PYTHON_END;

static const char onnx_python[] = PYTHON_START
  "    try:\n"
  "        import onnxruntime as ort\n"
  "        import numpy as np\n"
  "    except ImportError:\n"
  "        print('missing', flush=True)\n"
  "        return\n"
  "    o = ort.SessionOptions()\n"
  "    o.intra_op_num_threads = threads\n"
  "    s = ort.InferenceSession(model, o, providers=['CPUExecutionProvider'])\n"
  "    types = {'float': 'float32', 'double': 'float64', 'float16': 'float16', 'bool': 'bool'}\n"
  "    stated = [[int(d) for d in shape.split('x') if d] for shape in sys.argv[3].split(',')]\n"
  "    def settle(i, shape):\n"
  "        ours = stated[i] if i < len(stated) else []\n"
  "        fits = len(ours) == len(shape) and all(not isinstance(d, int) or d == o for d, o in "
  "zip(shape, ours))\n"
  "        return ours if fits else [d if isinstance(d, int) else 1 for d in shape]\n"
  "    feed = {}\n"
  "    for i, x in enumerate(s.get_inputs()):\n"
  "        word = x.type[7:-1]\n"
  "        feed[x.name] = noise(np, settle(i, x.shape), types.get(word, word))\n"
  "    serve('onnxruntime ' + ort.__version__, lambda: s.run(None, feed))\n" PYTHON_END;

/* A model of pictures in a list takes them so. Files for the lite interpreter alone have no code
 * for the other one. */
static const char torch_python[] = PYTHON_START
  "    try:\n"
  "        import torch\n"
  "    except ImportError:\n"
  "        print('missing', flush=True)\n"
  "        return\n"
  "    torch.set_num_threads(threads)\n"
  "    if 'qnnpack' in torch.backends.quantized.supported_engines:\n"
  "        torch.backends.quantized.engine = 'qnnpack'\n"
  "    try:\n"
  "        net = torch.jit.load(model, map_location='cpu').eval()\n"
  "    except RuntimeError:\n"
  "        from torch.jit.mobile import _load_for_lite_interpreter\n"
  "        net = _load_for_lite_interpreter(model)\n"
  "    torch.manual_seed(1)\n"
  "    shapes = sys.argv[3].split(',')\n"
  "    feed = [torch.rand([int(d) for d in shape.split('x') if d]) for shape in shapes]\n"
  "    with torch.no_grad():\n"
  "        try:\n"
  "            net(*feed)\n"
  "        except RuntimeError:\n"
  "            feed = [feed]\n"
  "            net(*feed)\n"
  "        serve('torch ' + torch.__version__, lambda: net(*feed))\n" PYTHON_END;

/* Programs of torch.export; the modules define operators that some of them use. */
static const char exported_python[] = PYTHON_START
  "    import importlib\n"
  "    try:\n"
  "        import torch\n"
  "    except ImportError:\n"
  "        print('missing', flush=True)\n"
  "        return\n"
  "    for module in ('torch.ao.quantization.fx._decomposed', 'torchvision'):\n"
  "        try:\n"
  "            importlib.import_module(module)\n"
  "        except ImportError:\n"
  "            pass\n"
  "    torch.set_num_threads(threads)\n"
  "    program = torch.export.load(model)\n"
  "    users = set(program.graph_signature.user_inputs)\n"
  "    kinds = [n.meta['val'].dtype for n in program.graph.nodes if n.op == 'placeholder' and "
  "n.name in users]\n"
  "    net = program.module()\n"
  "    torch.manual_seed(1)\n"
  "    feed = [torch.rand([int(d) for d in shape.split('x') if d]).to(kind) for kind, shape in "
  "zip(kinds, sys.argv[3].split(','))]\n"
  "    with torch.no_grad():\n"
  "        net(*feed)\n"
  "        serve('torch ' + torch.__version__, lambda: net(*feed))\n" PYTHON_END;

/* Halves are the bits of 0.5 to 1. */
static const char onnx_node[] =
  "const [model, threads, shapes] = process.argv.slice(1);\n"
  "const stated = shapes.split(',').map(s => s.split('x').map(Number));\n"
  "let ort;\n"
  "try { ort = require('onnxruntime-node'); } catch (e) { console.log('missing'); process.exit(0); "
  "}\n"
  "(async () => {\n"
  "  const s = await ort.InferenceSession.create(model, { intraOpNumThreads: Number(threads) });\n"
  "  const feed = {};\n"
  "  const unit = v => v / 4294967296, small = v => v >>> 25;\n"
  "  const half = v => 0x3800 | v >>> 22;\n"
  "  const kinds = { float32: [Float32Array, unit], float64: [Float64Array, unit], float16: "
  "[Uint16Array, half], uint8: [Uint8Array, small],\n"
  "    int8: [Int8Array, small], int32: [Int32Array, small], int64: [BigInt64Array, v => BigInt(v "
  ">>> 31)], bool: [Uint8Array, v => v >>> 31] };\n"
  "  s.inputNames.forEach((name, i) => {\n"
  "    const m = s.inputMetadata[i], ours = stated[i] || [];\n"
  "    const fits = ours.length === m.shape.length && m.shape.every((d, k) => typeof d !== "
  "'number' || d === ours[k]);\n"
  "    const shape = fits ? ours : m.shape.map(d => typeof d === 'number' ? d : 1);\n"
  "    if (!kinds[m.type]) throw new Error('an input of ' + m.type + ' is not filled here');\n"
  "    const [array, from] = kinds[m.type], data = new array(shape.reduce((a, b) => a * b, 1));\n"
  "    for (let k = 0, v = 1; k < data.length; k++) { v = (v * 1664525 + 1013904223) >>> 0; "
  "data[k] = from(v); }\n"
  "    feed[name] = new ort.Tensor(m.type, data, shape);\n"
  "  });\n"
  "  let version = '';\n"
  "  try { version = require('onnxruntime-node/package.json').version; } catch (e) { }\n"
  "  console.log('ready onnxruntime-node ' + version);\n"
  "  for await (const line of require('readline').createInterface({ input: process.stdin })) {\n"
  "    const times = [];\n"
  "    for (let i = 0; i < Number(line); i++) { const at = process.hrtime.bigint(); await "
  "s.run(feed); times.push(Number(process.hrtime.bigint() - at) / 1e6); }\n"
  "    console.log(times.join('\\n'));\n"
  "  }\n"
  "})().catch(e => { console.log('failed ' + String(e.message).split(/\\s+/).join(' ')); "
  "process.exit(0); });\n";

/* Ways to a runtime, tried in order. */
static const struct
{
  SlPeerKind kind;
  const char *program, *option, *script;
} ways[] = {
  { SL_PEER_TFLITE, "python3", "-c", tflite_python },
  { SL_PEER_ONNX, "python3", "-c", onnx_python },
  { SL_PEER_ONNX, "node", "-e", onnx_node },
  { SL_PEER_TORCH, "python3", "-c", torch_python },
  { SL_PEER_EXPORTED, "python3", "-c", exported_python },
};

#define NO_TORCH                                                                                  \
  "PyTorch is not here: expected the module torch for python3; get it with 'pip install torch', " \
  "or on Debian with 'apt install python3-torch'"

static const char *const wanted[] = {
  [SL_PEER_TFLITE] =
    "TensorFlow Lite is not here: expected the Python module ai_edge_litert, tflite_runtime or "
    "tensorflow for python3, with numpy; get it with 'pip install ai-edge-litert'",
  [SL_PEER_ONNX] =
    "ONNX Runtime is not here: expected the module onnxruntime for python3, with numpy, or "
    "onnxruntime-node for node; get it with 'pip install onnxruntime', or 'npm install "
    "onnxruntime-node' and NODE_PATH=.../node_modules",
  [SL_PEER_TORCH] = NO_TORCH,
  [SL_PEER_EXPORTED] = NO_TORCH,
};

struct _SlPeer
{
  GPid process;
  GIOChannel *requests, *answers;
  char *name;
};

void
sl_peer_free (SlPeer *peer)
{
  if (peer == NULL)
    return;
  if (peer->process > 0) {
    kill (peer->process, SIGKILL);
    waitpid (peer->process, NULL, 0);
  }
  g_clear_pointer (&peer->requests, g_io_channel_unref);
  g_clear_pointer (&peer->answers, g_io_channel_unref);
  g_free (peer->name);
  g_free (peer);
}

const char *
sl_peer_name (const SlPeer *peer)
{
  return peer->name;
}

/* (transfer full): @fd's, closed with it. */
static GIOChannel *
open_channel (int fd)
{
  GIOChannel *channel = g_io_channel_unix_new (fd);
  g_io_channel_set_close_on_unref (channel, TRUE);
  g_io_channel_set_encoding (channel, NULL, NULL);
  return channel;
}

/* (nullable): its next line; without @error at its end. */
static char *
next_line (SlPeer *peer, GError **error)
{
  char *line = NULL;
  gsize end = 0;
  if (g_io_channel_read_line (peer->answers, &line, NULL, &end, error) == G_IO_STATUS_NORMAL)
    line[end] = '\0';
  return line;
}

static gboolean
start (SlPeer *peer, const char *const *command)
{
  int requests, answers;
  const GSpawnFlags flags =
    G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL | G_SPAWN_DO_NOT_REAP_CHILD;
  if (!g_spawn_async_with_pipes (NULL, (char **) command, NULL, flags, NULL, NULL, &peer->process,
                                 &requests, &answers, NULL, NULL))
    return FALSE;
  signal (SIGPIPE, SIG_IGN); /* a runtime that goes away is an error of sl_peer_run() */
  peer->requests = open_channel (requests);
  peer->answers = open_channel (answers);
  return TRUE;
}

/* NULL without @error when this way does not lead to a runtime. */
static SlPeer *
peer_try (const char *program, const char *option, const char *script, const char *model,
          const char *shapes, guint threads, GError **error)
{
  g_autoptr (SlPeer) peer = g_new0 (SlPeer, 1);
  g_autofree char *count = g_strdup_printf ("%u", threads);
  const char *const command[] = { program, option, script, model, count, shapes, NULL };
  if (!start (peer, command))
    return NULL;
  g_autofree char *line = next_line (peer, NULL);
  if (line == NULL || strcmp (line, "missing") == 0)
    return NULL;
  if (!g_str_has_prefix (line, "ready "))
    return sl_fail_null (error, SL_ERROR_BACKEND, "%s: the other runtime (in %s) refuses it: %s",
                         model, program, g_str_has_prefix (line, "failed ") ? line + 7 : line);
  peer->name = g_strstrip (g_strdup (line + 6));
  return g_steal_pointer (&peer);
}

SlPeer *
sl_peer_new (SlPeerKind kind, const char *model, const char *shapes, guint threads, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    GError *failed = NULL;
    if (ways[i].kind != kind)
      continue;
    SlPeer *peer =
      peer_try (ways[i].program, ways[i].option, ways[i].script, model, shapes, threads, &failed);
    if (failed != NULL)
      g_propagate_error (error, failed);
    if (peer != NULL || failed != NULL)
      return peer;
  }
  return sl_fail_null (error, SL_ERROR_UNSUPPORTED, "%s", wanted[kind]);
}

gboolean
sl_peer_run (SlPeer *peer, guint n, double *times, GError **error)
{
  if (n == 0)
    return TRUE;
  g_autofree char *request = g_strdup_printf ("%u\n", n);
  gsize written;
  if (g_io_channel_write_chars (peer->requests, request, -1, &written, error) != G_IO_STATUS_NORMAL
      || g_io_channel_flush (peer->requests, error) != G_IO_STATUS_NORMAL)
    return FALSE;
  for (guint i = 0; i < n; i++) {
    g_autofree char *line = next_line (peer, error);
    char *end = line;
    times[i] = line != NULL ? g_ascii_strtod (line, &end) : 0;
    if (line != NULL && end != line && *end == '\0' && times[i] > 0)
      continue;
    if (error != NULL && *error == NULL)
      sl_fail (error, SL_ERROR_BACKEND, "%s stopped: expected milliseconds, got '%s'", peer->name,
               line != NULL ? line : "");
    return FALSE;
  }
  return TRUE;
}
