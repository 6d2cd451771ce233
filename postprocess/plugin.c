/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plug-ins: found, loaded once, checked, and run as any decoder. A collector makes a result of what
 * a plug-in gives, which may be anything. Shared objects stay loaded: predictions that are kept
 * point to names in them.
 */
#include "postprocess/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"
#include "sightline/decoder_plugin.h"
#include "core/base/fail.h"
#include "core/base/shared_object.h"
#include "postprocess/collector.h"
#include "postprocess/params.h"

#define ROW "sightline_decoder"
#define FOLDERS "SIGHTLINE_DECODERS"
#define SUFFIX ".so"
#define PAGE "docs/decoder-plugins.md"
#define MAX_NAMES 65536
#define MESSAGE_SIZE 512

/* SlDecoderType by SlDtype. */
static const SlDecoderType types[SL_DTYPE_COUNT] = {
  [SL_DTYPE_F32] = SL_DECODER_FLOAT32, [SL_DTYPE_F16] = SL_DECODER_FLOAT16,
  [SL_DTYPE_F64] = SL_DECODER_FLOAT64, [SL_DTYPE_I8] = SL_DECODER_INT8,
  [SL_DTYPE_U8] = SL_DECODER_UINT8,    [SL_DTYPE_I16] = SL_DECODER_INT16,
  [SL_DTYPE_U16] = SL_DECODER_UINT16,  [SL_DTYPE_I32] = SL_DECODER_INT32,
  [SL_DTYPE_U32] = SL_DECODER_UINT32,  [SL_DTYPE_I64] = SL_DECODER_INT64,
  [SL_DTYPE_U64] = SL_DECODER_UINT64,  [SL_DTYPE_BOOL] = SL_DECODER_BOOL,
};

/* A plug-in's row in the words of the table. */
typedef struct
{
  SlDecoder decoder;
  const SlDecoderPlugin *plugin;
  char *path;
  SlSkeleton skeleton;
} Row;

typedef struct
{
  SlDecoderModel model;
  SlDecoderOutput output;
  const Row *row;
  SlDecoderTensor tensors[SL_MAX_IO];
  GHashTable *params;
  void *opened;
  SlCollector collector;
} State;

static State *
state_of_output (SlDecoderOutput *output)
{
  return (State *) ((char *) output - G_STRUCT_OFFSET (State, output));
}

static const char *
get_param (const SlDecoderModel *model, const char *name)
{
  const State *state = (const State *) ((const char *) model - G_STRUCT_OFFSET (State, model));
  return name != NULL ? g_hash_table_lookup (state->params, name) : NULL;
}

static void
add_object (SlDecoderOutput *output, const SlDecoderBox *box, const SlDecoderPoint *points)
{
  G_STATIC_ASSERT (sizeof *points == sizeof (SlDetectedPoint));
  const SlDetection found = { box->x_min,      box->y_min,    box->x_max, box->y_max,
                              box->confidence, box->class_id, 0,          0 };
  sl_collector_add_object (&state_of_output (output)->collector, &found,
                           (const SlDetectedPoint *) points);
}

static void
add_label (SlDecoderOutput *output, int32_t class_id, float confidence)
{
  sl_collector_add_label (&state_of_output (output)->collector, class_id, confidence);
}

static void
set_values (SlDecoderOutput *output, const float *values, uint32_t n, int is_embedding)
{
  sl_collector_set_values (&state_of_output (output)->collector, values, n, is_embedding != 0);
}

static void
set_class_map (SlDecoderOutput *output, const uint8_t *classes, uint32_t width, uint32_t height,
               int32_t background)
{
  sl_collector_set_map (&state_of_output (output)->collector, classes, width, height, background);
}

static void
close_plugin (gpointer opened)
{
  State *state = opened;
  if (state->opened != NULL && state->row->plugin->close != NULL)
    state->row->plugin->close (state->opened);
  sl_collector_clear (&state->collector);
  g_hash_table_unref (state->params);
  for (guint t = 0; t < state->model.n_tensors; t++)
    g_free ((char *) state->tensors[t].name);
  g_free (state);
}

static void
describe_tensors (State *state, const SlDecoderConfig *config)
{
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *from = &config->tensors[t];
    SlDecoderTensor *to = &state->tensors[t];
    *to = (SlDecoderTensor){ .name = g_strdup (from->name != NULL ? from->name : ""),
                             .type = types[from->dtype],
                             .rank = from->rank,
                             .elements = sl_decoder_elements (from),
                             .scale = from->scale > 0 ? from->scale : 1,
                             .zero_point = from->scale > 0 ? from->zero_point : 0 };
    memcpy (to->dims, from->dims, sizeof to->dims);
  }
}

/* The parameters of the model and of the user, which outlive @config here. */
static GHashTable *
copy_params (GHashTable *params)
{
  GHashTable *copy = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GHashTableIter iter;
  gpointer key, value;
  if (params == NULL)
    return copy;
  g_hash_table_iter_init (&iter, params);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_hash_table_insert (copy, g_strdup (key), g_strdup (value));
  return copy;
}

static gpointer
open_plugin (const SlDecoderConfig *config, GError **error)
{
  const Row *row = (const Row *) config->decoder;
  State *state = g_new0 (State, 1);
  char message[MESSAGE_SIZE] = "";
  state->row = row;
  state->params = copy_params (config->params);
  describe_tensors (state, config);
  state->model = (SlDecoderModel){ sizeof (SlDecoderModel), config->n_tensors,
                                   state->tensors,          config->threshold,
                                   config->iou_threshold,   config->max_results,
                                   config->n_labels,        config->input_width,
                                   config->input_height,    get_param };
  state->output =
    (SlDecoderOutput){ sizeof (SlDecoderOutput), add_object, add_label, set_values, set_class_map };
  if (!sl_collector_init (&state->collector, config, &row->skeleton, row->plugin->suppress != 0,
                          error)) {
    close_plugin (state);
    return NULL;
  }
  state->opened = row->plugin->open (&state->model, message, sizeof message);
  if (state->opened != NULL)
    return state;
  message[sizeof message - 1] = '\0';
  g_autofree char *said =
    g_utf8_make_valid (message[0] != '\0' ? message : "it gives no reason", -1);
  g_autofree char *got = sl_decoder_describe (config);
  sl_fail (error, SL_ERROR_SHAPE, "decoder %s (%s): %s; it takes %s, got %s", row->decoder.name,
           row->path, said, row->decoder.description, got);
  close_plugin (state);
  return NULL;
}

static void
decode_plugin (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  sl_collector_begin (&state->collector, result);
  state->row->plugin->decode (state->opened, data, &state->output);
  sl_collector_finish (&state->collector);
}

static gboolean
is_name (const char *text)
{
  return text != NULL && text[0] != '\0'
         && text[strspn (text, "abcdefghijklmnopqrstuvwxyz0123456789-_")] == '\0';
}

/* Whether a list of names ends. */
static gboolean
ends (const char *const *names)
{
  guint n = 0;
  while (names != NULL && n < MAX_NAMES && names[n] != NULL)
    n++;
  return n < MAX_NAMES;
}

/* What is wrong with a row of our version, a clause; NULL = nothing. */
static const char *
find_fault (const SlDecoderPlugin *plugin)
{
  if (!is_name (plugin->name))
    return "name: expected a-z, 0-9, '-' and '_'";
  if (plugin->description == NULL)
    return "description: expected a text";
  if (plugin->open == NULL || plugin->decode == NULL)
    return "expected the functions open and decode";
  if (!(plugin->threshold >= 0 && plugin->threshold <= 1))
    return "threshold: expected 0..1";
  if (plugin->n_points > SL_MAX_KEYPOINTS)
    return "n_points: expected 0..512";
  if (!ends (plugin->params) || !ends (plugin->class_names))
    return "params, class_names: expected NULL at their end";
  return NULL;
}

static gboolean
check_row (const char *path, const SlDecoderPlugin *plugin, GError **error)
{
  if (plugin == NULL)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "decoder %s: it exports no '" ROW
                    "'; expected a decoder plug-in, which has that row (" PAGE ")",
                    path);
  if (plugin->abi != SL_DECODER_PLUGIN_ABI || plugin->size < sizeof *plugin)
    return sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "decoder %s: expected version %u of the decoder ABI and a row of at least %" G_GSIZE_FORMAT
      " bytes, got version %u and %" G_GSIZE_FORMAT
      " bytes: build it with the sightline/decoder_plugin.h of this version",
      path, SL_DECODER_PLUGIN_ABI, sizeof *plugin, plugin->abi, plugin->size);
  const char *fault = find_fault (plugin);
  if (fault != NULL)
    sl_fail (error, SL_ERROR_FORMAT,
             "decoder %s: its row is wrong: %s; correct '" ROW "' (" PAGE ")", path, fault);
  return fault == NULL;
}

/* The plug-in's parameters and, where boxes are suppressed, those of suppression. */
static const SlDecoderParam *
join_params (const SlDecoderPlugin *plugin)
{
  static const SlDecoderParam ours[] = { SL_DETECTOR_PARAMS };
  GArray *all = g_array_new (TRUE, FALSE, sizeof (SlDecoderParam));
  for (guint i = 0; plugin->params != NULL && plugin->params[i] != NULL; i++) {
    const SlDecoderParam row = SL_PARAM_TEXT (plugin->params[i]);
    g_array_append_val (all, row);
  }
  if (plugin->suppress)
    g_array_append_vals (all, ours, G_N_ELEMENTS (ours));
  return (const SlDecoderParam *) (gpointer) g_array_free (all, FALSE);
}

static Row *
make_row (const char *path, const SlDecoderPlugin *plugin)
{
  Row *row = g_new0 (Row, 1);
  row->plugin = plugin;
  row->path = g_strdup (path);
  row->skeleton =
    (SlSkeleton){ .n_points = plugin->n_points,
                  .names = plugin->point_names != NULL ? plugin->point_names
                                                       : g_new0 (const char *, plugin->n_points) };
  row->decoder = (SlDecoder){ .name = plugin->name,
                              .description = plugin->description,
                              .params = join_params (plugin),
                              .names = plugin->class_names,
                              .threshold = plugin->threshold,
                              .open = open_plugin,
                              .decode = decode_plugin,
                              .close = close_plugin };
  return row;
}

/* The row in @handle, which is kept where it has one. */
static const SlDecoder *
take_row (const char *path, void *handle, GError **error)
{
  static GMutex lock;
  static GHashTable *rows; /* Row by handle */
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  if (rows == NULL)
    rows = g_hash_table_new (NULL, NULL);
  Row *row = g_hash_table_lookup (rows, handle);
  const SlDecoderPlugin *plugin = row != NULL ? row->plugin : dlsym (handle, ROW);
  if (row == NULL && check_row (path, plugin, error)) {
    row = make_row (path, plugin);
    g_hash_table_insert (rows, handle, row);
  } else {
    dlclose (handle);
  }
  return row != NULL ? &row->decoder : NULL;
}

static const SlDecoder *
load (const char *path, GError **error)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  struct stat info;
  if (stat (absolute, &info) != 0)
    return sl_fail_null (
      error, SL_ERROR_OPEN,
      "decoder %s: %s; expected the path of a decoder plug-in, a shared object (" PAGE ")", path,
      errno == ENOENT ? "no such file" : g_strerror (errno));
  if (!S_ISREG (info.st_mode))
    return sl_fail_null (
      error, SL_ERROR_OPEN,
      "decoder %s: not a file; expected the path of a decoder plug-in, a shared object (" PAGE ")",
      path);
  g_autofree char *said = NULL;
  void *handle = sl_shared_object_open (absolute, RTLD_NOW | RTLD_LOCAL, &said);
  if (handle != NULL)
    return take_row (path, handle, error);
  return sl_fail_null (
    error, SL_ERROR_FORMAT,
    "decoder %s: the dynamic linker refuses it (%s); expected a shared object of this processor "
    "that brings all it needs",
    path, said);
}

gboolean
sl_decoder_plugin_is_path (const char *decoder)
{
  const gsize length = decoder != NULL ? strcspn (decoder, ",") : 0;
  g_autofree char *bare = g_strstrip (g_strndup (length > 0 ? decoder : "", length));
  return strchr (bare, '/') != NULL || g_str_has_suffix (bare, SUFFIX);
}

const SlDecoder *
sl_decoder_plugin_find (const char *name, GError **error)
{
  if (sl_decoder_plugin_is_path (name))
    return load (name, error);
  const char *stated = g_getenv (FOLDERS);
  g_autofree char *all =
    g_strconcat (stated != NULL ? stated : "", G_SEARCHPATH_SEPARATOR_S, SL_DECODER_DIR, NULL);
  g_auto (GStrv) folders = g_strsplit (all, G_SEARCHPATH_SEPARATOR_S, -1);
  g_autofree char *file = g_strconcat (name, SUFFIX, NULL);
  for (guint i = 0; folders[i] != NULL && is_name (name); i++) {
    g_autofree char *path = g_build_filename (folders[i], file, NULL);
    if (folders[i][0] != '\0' && g_file_test (path, G_FILE_TEST_EXISTS))
      return load (path, error);
  }
  return NULL;
}
