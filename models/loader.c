/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * File -> prepared graph and contract, for a backend that is named. The file is read into memory of
 * our own, which lives as long as the graph, because its constants point into it. A graph that some
 * other model of the same file has already is taken as it is.
 */
#include "models/loader.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/base/build_selection.h"
#include "core/base/xxh64.h"
#include "core/graph/constants.h"
#include "core/passes/prepare.h"
#include "core/base/fail.h"
#include "models/contract_private.h"
#include "models/data_file.h"
#include "models/external_file.h"
#include "models/file.h"
#include "models/model_private.h"
#include "models/numbers.h"
#include "models/word_inputs.h"

#define EXPECTED "a TensorFlow Lite, ONNX, PyTorch (.pt2) or TorchScript model"
#define ALL_READERS                                                               \
  (SL_KEEPS (reader, tflite) && SL_KEEPS (reader, onnx) && SL_KEEPS (reader, pt2) \
   && SL_KEEPS (reader, torchscript))
#define SHORTEST 16
/* Bytes at the start and at the end that tell what a file is. */
#define TELLING ((gsize) 65536)
/* A program that updates the file may be writing it: how often it is read before that is an error,
 * and the pause between, in us. */
#define ATTEMPTS 5
#define PAUSE 50000
/* FlatBuffers have at most 2 GiB; what is behind them is data of the largest models. */
#define LARGEST MIN (G_GUINT64_CONSTANT (4) << 30, (guint64) G_MAXSIZE / 2)

static void
source_free (gpointer data)
{
  SlModelSource *source = data;
  sl_model_metadata_clear (&source->metadata);
  g_clear_pointer (&source->word_columns, g_array_unref);
  g_free (source);
}

static gboolean
check_size (gint64 size, GError **error)
{
  if (size >= SHORTEST && (guint64) size <= LARGEST)
    return TRUE;
  if (size == 0)
    sl_fail (error, SL_ERROR_OPEN, "the file is empty; expected " EXPECTED);
  else if (size < SHORTEST)
    sl_fail (error, SL_ERROR_FORMAT,
             "the file has %" G_GINT64_FORMAT " bytes, too few for " EXPECTED, size);
  else
    sl_fail (error, SL_ERROR_LIMIT,
             "the file has %" G_GINT64_FORMAT " bytes; at most %" G_GUINT64_FORMAT " are read",
             size, LARGEST);
  return FALSE;
}

/* As sl_file_open(); folders that are models of others are named. */
static int
open_file (const char *path, SlFileStamp *stamp, GError **error)
{
  const char *folder = sl_reader_describe_folder (path);
  if (folder == NULL)
    return sl_file_open (path, EXPECTED, stamp, error);
  sl_fail (error, SL_ERROR_OPEN, "looks like %s; expected " EXPECTED, folder);
  return -1;
}

/* (transfer full): the first and the last bytes of a file, in one piece. */
static GBytes *
read_ends (int fd, gsize size)
{
  guint8 *bytes = g_malloc (2 * TELLING);
  const gsize head = MIN (size, TELLING), tail = MIN (size - head, TELLING);
  gssize got = pread (fd, bytes, head, 0);
  if (got == (gssize) head && tail > 0)
    got += MAX (pread (fd, bytes + head, tail, (off_t) (size - tail)), 0);
  return g_bytes_new_take (bytes, (gsize) MAX (got, 0));
}

static const SlModelReader *
unknown_format (GBytes *bytes, const char *path, GError **error)
{
  const char *what = sl_reader_describe_unknown (bytes, path);
  const guint8 *data = g_bytes_get_data (bytes, NULL);
  char found[5] = { 0 };
  for (guint i = 0; i < 4; i++)
    found[i] = g_ascii_isprint (data[4 + i]) ? (char) data[4 + i] : '.';
  if (what != NULL)
    sl_fail (error, SL_ERROR_FORMAT, "looks like %s; expected " EXPECTED, what);
  else
    sl_fail (error, SL_ERROR_FORMAT,
             "not a known model format; expected " EXPECTED " (bytes 4..7 'TFL3', found '%s')%s",
             found, ALL_READERS ? "" : "; or its reader " SL_LEFT_OUT);
  return NULL;
}

/* Whether the classes that the user states are in the graph. */
static gboolean
has_words (const SlModelSource *source)
{
  return source->word_rows > 0 || source->word_columns != NULL;
}

/* The same text for the same file, unchanged, and the same graph made of it. */
static char *
identity_of (const SlModel *model, const SlModelLoadOptions *options, gboolean skips,
             gboolean with_words)
{
  const SlFileStamp *file = &model->stamp;
  g_autofree char *words =
    with_words ? g_strdup_printf (", words %016" G_GINT64_MODIFIER "x",
                                  model->texts != NULL ? sl_prompt_texts_hash (model->texts)
                                                       : sl_word_inputs_hash (model->words))
               : g_strdup ("");
  return g_strdup_printf (
    "%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT " %" G_GINT64_FORMAT
    " bytes, written %" G_GINT64_FORMAT ", changed %" G_GINT64_FORMAT ", limits %" G_GSIZE_FORMAT
    " %" G_GUINT64_FORMAT ", %s, %s, %s, batch %u, tokens %u, inputs %016" G_GINT64_MODIFIER
    "x, shape %s, state %s, handed in %s%s",
    file->device, file->inode, file->size, file->written, file->changed,
    options->tensor_limit > 0 ? options->tensor_limit : SL_MAX_TENSOR_BYTES,
    options->work_limit > 0 ? options->work_limit : SL_MAX_WORK, skips ? "no quantize" : "whole",
    sl_precision_name (model->precision),
    options->keep_activations ? "activations kept" : "activations rounded", MAX (model->batch, 1),
    options->tokens, sl_fixed_inputs_hash (model->fixed),
    options->input_shape != NULL ? options->input_shape : "",
    options->state != NULL ? options->state : "",
    options->handed_inputs != NULL ? options->handed_inputs : "", words);
}

/* The reader of a file whose first bytes say what it is, before the rest of it is in memory. */
static const SlModelReader *
find_reader (int fd, gint64 size, const char *path, GError **error)
{
  if (!check_size (size, error))
    return NULL;
  g_autoptr (GBytes) ends = read_ends (fd, (gsize) size);
  if (g_bytes_get_size (ends) < SHORTEST)
    return sl_fail_null (error, SL_ERROR_OPEN, "cannot read its first bytes: %s",
                         g_strerror (errno));
  const SlModelReader *reader = sl_reader_find (ends);
  return reader != NULL ? reader : unknown_format (ends, path, error);
}

/* (transfer full): what has the path now, read as one piece; *@fd is closed. */
static SlFileImage *
read_file (SlModel *model, int *fd, const SlModelReader **reader, GError **error)
{
  gboolean torn = TRUE;
  for (guint attempt = 1; torn; attempt++) {
    g_autoptr (GError) failed = NULL;
    SlFileImage *image = NULL;
    if (*fd < 0)
      *fd = open_file (model->path, &model->stamp, error);
    if (*fd < 0)
      return NULL;
    *reader = find_reader (*fd, model->stamp.size, model->path, &failed);
    torn = FALSE;
    if (*reader != NULL)
      image = sl_file_image_new (g_steal_fd (fd), &model->stamp, &torn, &failed);
    else
      close (g_steal_fd (fd));
    if (image != NULL)
      return image;
    if (!torn || attempt == ATTEMPTS) {
      g_propagate_error (error, g_steal_pointer (&failed));
      return NULL;
    }
    g_usleep (PAUSE);
  }
  return NULL;
}

/* A stated shape must be the first input's, whatever the format. */
static gboolean
check_input_shape (const SlGraph *graph, const char *stated, GError **error)
{
  const SlTensor *input = sl_graph_input_tensor (graph, 0);
  gdouble numbers[SL_MAX_RANK];
  if (stated == NULL || stated[0] == '\0' || stated[0] == ';')
    return TRUE;
  g_autofree char *first = g_strndup (stated, strcspn (stated, ";"));
  const char *colon =
    strchr (first, ':'); /* a reader that takes a type before the numbers has checked it */
  const guint n = sl_numbers_parse (colon != NULL ? colon + 1 : first, numbers, SL_MAX_RANK);
  gboolean fits = n == input->rank;
  for (guint i = 0; i < n && fits; i++)
    fits = numbers[i] == (gdouble) input->dims[i];
  if (fits)
    return TRUE;
  g_autofree char *text = sl_tensor_describe (input);
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "input-shape is '%s', but input '%s' is %s; a model of this format has the size that it was "
    "exported with",
    stated, input->name, text);
}

/* (transfer full): an empty graph of the file, whose constants are used, its SlModelSource with it;
 * *@bytes (transfer full): the file's; *@fd is closed. */
static SlGraph *
start_graph (SlModel *model, int *fd, const SlModelLoadOptions *options,
             const SlModelReader **reader, GBytes **bytes, GError **error)
{
  g_autoptr (SlFileImage) image = read_file (model, fd, reader, error);
  if (image == NULL)
    return NULL;
  *bytes = sl_file_image_bytes (image);
  SlGraph *graph = sl_graph_new (*bytes);
  SlModelSource *source = g_new0 (SlModelSource, 1);
  source->format = (*reader)->name;
  sl_graph_set_source (graph, source, source_free);
  sl_graph_set_file (graph, image);
  sl_graph_use_constants (graph);
  sl_graph_set_later (graph);
  sl_graph_set_limit (graph, options->tensor_limit);
  sl_graph_set_batch (graph, model->batch);
  sl_graph_set_precision (graph, model->precision);
  if (options->keep_activations)
    sl_graph_keep_apart (graph);
  return graph;
}

/* (transfer full): a prepared graph of the file, its SlModelSource with it; *@fd is closed. */
static SlGraph *
read_graph (SlModel *model, int *fd, const SlModelLoadOptions *options, GError **error)
{
  const SlModelReader *reader = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (SlGraph) graph = start_graph (model, fd, options, &reader, &bytes, error);
  if (graph == NULL)
    return NULL;
  SlModelSource *source = sl_graph_source (graph);
  sl_graph_set_work_limit (graph, (options->work_limit > 0 ? options->work_limit : SL_MAX_WORK)
                                    * MAX (model->batch, 1));
  if (!reader->read (bytes,
                     &(SlReaderSource){ model->path, options->input_shape,
                                        options->keep_activations, model->words, model->texts },
                     graph, &source->metadata, error)
      || (model->batch <= 1 && !check_input_shape (graph, options->input_shape, error)))
    return NULL;
  const gint32 first = sl_graph_input (graph, 0);
  SlState state;
  if (!sl_state_read (options->state, options->handed_inputs, source->metadata.state,
                      source->metadata.state_first, graph, &state, error)
      || !sl_fixed_inputs_apply (model->fixed, graph, &state, &source->metadata.data_files, error)
      || !sl_word_inputs_apply (model->words, graph, &source->metadata.data_files,
                                &source->word_rows, error)
      || !sl_prompt_texts_apply (model->texts, graph, &source->metadata.data_files,
                                 &source->word_columns, error))
    return NULL;
  if (!sl_graph_prepare (graph, error)) {
    if (options->input_shape != NULL && options->input_shape[0] != '\0')
      g_prefix_error (error, "with input-shape=%s: ", options->input_shape);
    return NULL;
  }
  if (!sl_state_apply (&state, graph, error)
      || (options->tokens > 0 && !sl_graph_cut_rows (graph, options->tokens, error)))
    return NULL;
  if (sl_graph_input (graph, 0) != first)
    sl_model_metadata_forget_input (&source->metadata);
  sl_graph_done_constants (graph);
  return g_steal_pointer (&graph);
}

/* (transfer full): the inputs and outputs of a model that the reader refuses, as the runtime has
 * them; *@fd is closed. */
static SlGraph *
read_skeleton (SlModel *model, int *fd, const SlModelLoadOptions *options, GError **error)
{
  const SlModelReader *reader = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (SlGraph) graph = start_graph (model, fd, options, &reader, &bytes, error);
  if (graph == NULL)
    return NULL;
  SlModelSource *source = sl_graph_source (graph);
  SlState state;
  if (!reader->describe (bytes, &source->metadata, error)
      || !sl_external_file_skeleton (model->external, options->input_shape, graph, error)
      || !sl_state_read (options->state, options->handed_inputs, NULL, NULL, graph, &state, error)
      || !sl_fixed_inputs_apply (model->fixed, graph, &state, &source->metadata.data_files, error)
      || !sl_word_inputs_apply (model->words, graph, &source->metadata.data_files,
                                &source->word_rows, error)
      || !sl_prompt_texts_apply (model->texts, graph, &source->metadata.data_files,
                                 &source->word_columns, error)
      || !sl_graph_set_whole (graph, sl_external_title (sl_external_model_name (model->external)),
                              error)
      || !sl_state_apply (&state, graph, error))
    return NULL;
  sl_graph_done_constants (graph);
  return g_steal_pointer (&graph);
}

/* (transfer full): the contract of @graph; *@skips: whether it asks for what is behind the model's
 * own QUANTIZE. */
static SlContract *
make_contract (const SlModel *model, const SlGraph *graph, const SlModelSettings *overrides,
               const SlModelLoadOptions *options, gboolean *skips, GError **error)
{
  const SlModelSource *source = sl_graph_source (graph);
  *skips = FALSE;
  g_autoptr (SlModelInfo) info = NULL;
  g_autofree char *info_path = sl_modelinfo_find_file (model->path);
  if (info_path != NULL) {
    info = sl_modelinfo_load (info_path, sl_graph_declared_input_tensor (graph, 0)->name, error);
    if (info == NULL)
      return NULL;
  }
  SlContract *contract =
    sl_contract_new (model->path, graph, &source->metadata, info, overrides, error);
  if (contract == NULL || !options->skip_input_quantize)
    return contract;
  const SlTensor *quantized = sl_graph_skips_input_quantize (graph)
                                ? sl_graph_input_tensor (graph, 0)
                                : sl_graph_quantized_input (graph);
  *skips = quantized != NULL && sl_contract_skip_input_quantize (contract, quantized);
  return contract;
}

/* (transfer full) (nullable): a living graph of @identity. One that lacks the classes of @words
 * suits where it has no place for them. */
static SlGraph *
find_living (const SlModel *model, const SlModelLoadOptions *options, gboolean skips,
             gboolean with_words)
{
  g_autofree char *identity = identity_of (model, options, skips, with_words);
  g_autoptr (SlGraph) graph = sl_graph_find_shared (identity);
  if (graph != NULL && !with_words
      && (sl_word_inputs_exist (model->words, graph)
          || (model->texts != NULL && sl_prompt_texts_exist (graph))))
    return NULL;
  return g_steal_pointer (&graph);
}

/* A living graph of the same file. TRUE with none where there is none that suits, or that could be
 * of another state of the file; one with weights in other files is found when these are read. */
static gboolean
find_shared (SlModel *model, const SlModelSettings *overrides, const SlModelLoadOptions *options,
             GError **error)
{
  const gboolean fresh = sl_file_stamp_is_fresh (&model->stamp);
  for (gint skips = options->skip_input_quantize ? 1 : 0; skips >= 0 && !fresh; skips--) {
    g_autoptr (SlGraph) graph = find_living (model, options, skips, FALSE);
    gboolean wanted = FALSE;
    if (graph == NULL && model->words != NULL)
      graph = find_living (model, options, skips, TRUE);
    if (graph == NULL)
      continue;
    g_autoptr (SlContract) contract =
      make_contract (model, graph, overrides, options, &wanted, error);
    if (contract == NULL)
      return FALSE;
    if (wanted != skips)
      continue;
    model->graph = g_steal_pointer (&graph);
    model->contract = g_steal_pointer (&contract);
    return TRUE;
  }
  return TRUE;
}

/* (transfer full): what tells a graph with weights in files beside the model's from others: the
 * bytes that were read, since such a file may have changed while the model's own did not. */
static char *
add_data_files (const SlGraph *graph, char *identity)
{
  const SlModelSource *source = sl_graph_source (graph);
  GHashTableIter iter;
  gpointer name, value;
  guint64 all = 0;
  if (source->metadata.data_files == NULL)
    return identity;
  g_hash_table_iter_init (&iter, source->metadata.data_files);
  while (g_hash_table_iter_next (&iter, &name, &value))
    if (strcmp (name, SL_DATA_FIXED_INPUTS) != 0) /* the identity has what was stated */
      all ^= sl_xxh64 (name, strlen (name), ((const SlDataFile *) value)->hash);
  if (all == 0)
    return identity;
  char *whole = g_strdup_printf ("%s, data %016" G_GINT64_MODIFIER "x", identity, all);
  g_free (identity);
  return whole;
}

static gboolean
load_new (SlModel *model, int *fd, const SlModelSettings *overrides,
          const SlModelLoadOptions *options, GError **error)
{
  gboolean skips = FALSE;
  model->graph = read_graph (model, fd, options, error);
  if (model->graph != NULL)
    model->contract = make_contract (model, model->graph, overrides, options, &skips, error);
  if (model->contract == NULL)
    return FALSE;
  if (skips)
    sl_graph_skip_input_quantize (model->graph);
  if (sl_file_stamp_is_fresh (&model->stamp))
    return TRUE;
  const SlModelSource *source = sl_graph_source (model->graph);
  g_autofree char *identity =
    add_data_files (model->graph, identity_of (model, options, skips, source->word_rows > 0));
  model->graph = sl_graph_share (model->graph, identity);
  return TRUE;
}

static gboolean
load (SlModel *model, const SlModelSettings *overrides, const SlModelLoadOptions *options,
      GError **error)
{
  int fd = open_file (model->path, &model->stamp, error);
  if (fd < 0)
    return FALSE;
  const gboolean good =
    find_shared (model, overrides, options, error)
    && (model->graph != NULL || load_new (model, &fd, overrides, options, error));
  if (fd >= 0)
    close (fd);
  return good;
}

/* Of a model that was not read. */
static gboolean
may_name_files (const SlModel *model)
{
  g_autoptr (GBytes) bytes = sl_file_read (model->path, EXPECTED, LARGEST, NULL);
  const SlModelReader *reader =
    bytes != NULL && g_bytes_get_size (bytes) >= SHORTEST ? sl_reader_find (bytes) : NULL;
  return reader == NULL || (reader->names_files != NULL && reader->names_files (bytes));
}

/* (transfer full): read_skeleton(), or the living graph of another model of the same file in the
 * same runtime, where @shares allows it. */
static SlGraph *
load_skeleton (SlModel *model, const SlModelLoadOptions *options, gboolean shares, GError **error)
{
  const SlFileStamp opened = model->stamp;
  int fd = open_file (model->path, &model->stamp, error);
  SlGraph *graph = fd >= 0 ? read_skeleton (model, &fd, options, error) : NULL;
  if (fd >= 0)
    close (fd);
  if (graph == NULL || !shares || sl_file_stamp_is_fresh (&model->stamp)
      || !sl_file_stamp_same_content (&opened, &model->stamp))
    return graph;
  const SlModelSource *source = sl_graph_source (graph);
  g_autofree char *file = identity_of (model, options, FALSE, has_words (source));
  g_autofree char *identity =
    g_strdup_printf ("%s, in %s", file, sl_external_model_title (model->external));
  return sl_graph_share (graph, identity);
}

/* The model that the runtime has, in our terms: our reader's graph, or, where it refuses the model,
 * what the runtime says of it. */
static gboolean
load_external (SlModel *model, const char *runtime, const SlModelSettings *overrides,
               const SlModelLoadOptions *options, GError **error)
{
  g_autoptr (GError) refused = NULL;
  gboolean skips;
  const gboolean read = load (model, overrides, options, &refused);
  if (!read && !g_error_matches (refused, SL_ERROR, SL_ERROR_UNSUPPORTED)) {
    g_propagate_error (error, g_steal_pointer (&refused));
    return FALSE;
  }
  if (!read && model->backend_by_file)
    return sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "Sightline refuses it (%s), and only the key file beside it names a backend: state "
      "backend=%s yourself, if you trust the model",
      refused->message, runtime);
  /* Files beside the model, which one that was not read may have, the runtime finds by the model's
   * path alone. */
  const gboolean has_files = read ? sl_model_data_files (model) != NULL : may_name_files (model);
  model->external =
    sl_external_file_open (runtime, model->path, &model->stamp, !read, has_files, options, error);
  if (model->external == NULL && !read)
    g_prefix_error (error,
                    "Sightline refuses it (%s), and so does the backend: ", refused->message);
  if (model->external == NULL || read)
    return model->external != NULL;
  model->graph = load_skeleton (model, options, !has_files, error);
  model->contract = model->graph != NULL
                      ? make_contract (model, model->graph, overrides, options, &skips, error)
                      : NULL;
  return model->contract != NULL;
}

/* Whether @runtime takes the file's format; load() refuses a file of another format. */
static gboolean
check_format (const SlModel *model, const char *runtime, GError **error)
{
  const char *format = sl_model_probe_format (model->path), *wanted = sl_external_format (runtime);
  if (format == NULL || strcmp (format, wanted) == 0)
    return TRUE;
  const char *other = sl_external_for_format (format);
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "backend=%s runs %s files, and this is one of %s: use backend=%s", runtime,
                  wanted, format, other != NULL ? other : SL_BACKEND_OURS);
}

/* Says where a precision that was asked for changes nothing. */
static void
note_precision (SlModel *model)
{
  gboolean changes =
    model->precision == SL_PRECISION_FLOAT || model->external != NULL || model->notice != NULL;
  for (guint i = 0; i < sl_graph_n_nodes (model->graph) && !changes; i++) {
    const SlNode *node = sl_graph_node (model->graph, i);
    changes = (node->op == SL_OP_CONV_2D || node->op == SL_OP_FULLY_CONNECTED)
              && sl_dtype_is_float (sl_node_input (model->graph, node, 0)->dtype);
  }
  if (!changes)
    model->notice = g_strdup_printf (
      "precision=%s changes nothing: none of its convolutions and fully connected layers computes "
      "in floats",
      sl_precision_name (model->precision));
}

/* Says where pixels are scaled twice: as stated, and by the model itself. */
static void
note_scaling (SlModel *model)
{
  const SlImageContract *image = &model->contract->image;
  const gdouble by_model = fabs (sl_graph_input_scale (model->graph));
  if (model->notice != NULL || !image->valid || !image->range_known || by_model == 0
      || 255 * by_model > SL_MAX_SCALED || 255 / image->std[0] > SL_MAX_SCALED)
    return;
  model->notice = g_strdup_printf (
    "the model itself multiplies its pixels by %.4g (1/%.5g), and they are divided by %.5g before: "
    "state mean=0 and std=1 if its pixels are 0..255",
    by_model, 1 / by_model, image->std[0]);
}

/* As the backend wants it. */
static gboolean
load_for (SlModel *model, const SlModelSettings *overrides, const SlLoadRequest *request,
          GError **error)
{
  const SlModelLoadOptions *options = &request->options;
  const char *backend = options->backend.backend;
  g_autoptr (GError) failed = NULL;
  if (backend == NULL || backend[0] == '\0' || strcmp (backend, SL_BACKEND_OURS) == 0)
    return load (model, overrides, options, error);
  SlModelLoadOptions whole = *options;
  whole.skip_input_quantize = FALSE;
  model->falls_back =
    options->backend.fallback || request->by_choice; /* nobody asked for that runtime */
  if (!check_format (model, backend, error))
    return FALSE;
  if (load_external (model, backend, overrides, &whole, &failed))
    return TRUE;
  const gboolean may_run = model->contract != NULL && model->falls_back;
  if (!may_run) {
    g_propagate_error (error, g_steal_pointer (&failed));
    return FALSE;
  }
  g_clear_pointer (&model->contract, sl_contract_unref);
  g_clear_pointer (&model->graph, sl_graph_unref);
  g_clear_pointer (&model->external, sl_external_model_unref);
  model->notice = g_strdup_printf (SL_BACKEND_FELL_BACK, failed->message);
  return load (model, overrides, options, error);
}

/* The contract gets the classes that the user states. */
static gboolean
add_words (SlModel *model, const SlLoadRequest *request, GError **error)
{
  const SlModelSource *source = sl_graph_source (model->graph);
  if (request->words == NULL)
    return TRUE;
  if (request->texts != NULL && source->word_columns == NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "text-model is not stated; expected text-model=FILE, tokenizer=FILE and "
                    "prompts=SENTENCE;SENTENCE together, or a model with the input 'input_ids'");
  if (request->texts == NULL && request->words->numbers == NULL
      && sl_graph_n_inputs (model->graph) > 1)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "prompts alone name the classes of a model that has them inside, and this one "
                    "has %u inputs; expected text-model=FILE and tokenizer=FILE with prompts, or "
                    "embeddings=FILE.npy",
                    sl_graph_n_inputs (model->graph));
  model->has_fixed |= has_words (source);
  sl_contract_set_words (model->contract, request->words, source->word_columns,
                         request->word_labels, source->word_rows);
  return TRUE;
}

SlModel *
sl_model_load_settled (const char *path, const SlModelSettings *overrides,
                       const SlLoadRequest *request, GError **error)
{
  const SlModelLoadOptions *options = &request->options;
  g_autoptr (SlModel) model = g_new0 (SlModel, 1);
  g_atomic_ref_count_init (&model->refs);
  model->path = g_strdup (path);
  model->backend_by_file = request->by_file;
  model->precision = request->precision;
  model->input_shape = g_strdup (options->input_shape);
  model->state = g_strdup (options->state);
  model->options = (SlModelLoadOptions){ .skip_input_quantize = options->skip_input_quantize,
                                         .keep_activations = options->keep_activations,
                                         .tensor_limit = options->tensor_limit,
                                         .work_limit = options->work_limit,
                                         .input_shape = model->input_shape,
                                         .state = model->state };
  model->has_fixed = request->has_fixed;
  model->fixed = request->fixed;
  model->words = request->words;
  model->texts = request->texts;
  const gboolean good = load_for (model, overrides, request, error);
  model->fixed = NULL;
  model->words = NULL;
  model->texts = NULL;
  if (!good || !add_words (model, request, error))
    return NULL;
  note_precision (model);
  note_scaling (model);
  return g_steal_pointer (&model);
}

const char *
sl_model_probe_format (const char *path)
{
  SlFileStamp stamp;
  const int fd = open_file (path, &stamp, NULL);
  const SlModelReader *reader = fd >= 0 ? find_reader (fd, stamp.size, path, NULL) : NULL;
  if (fd >= 0)
    close (fd);
  return reader != NULL ? reader->name : NULL;
}

gboolean
sl_model_probe (const char *path)
{
  return sl_model_probe_format (path) != NULL;
}

/* (transfer full): of the file that is there now, which has to be the one that @model was read
 * from. */
static SlGraph *
read_batch (SlModel *again, const SlModel *model, GError **error)
{
  const SlModelLoadOptions *options = &model->options;
  const gboolean skips = model->contract->skips_input_quantize;
  int fd = sl_file_open (again->path, EXPECTED, &again->stamp, error);
  if (fd < 0)
    return NULL;
  const gboolean same = sl_file_stamp_same_content (&again->stamp, &model->stamp);
  g_autofree char *identity = identity_of (again, options, skips, FALSE);
  g_autoptr (SlGraph) graph = same ? sl_graph_find_shared (identity) : NULL;
  const gboolean found = graph != NULL;
  if (!found && same)
    graph = sl_graph_whole (model->graph) != NULL ? read_skeleton (again, &fd, options, error)
                                                  : read_graph (again, &fd, options, error);
  if (fd >= 0)
    close (fd);
  if (!same || (graph != NULL && !sl_file_stamp_same_content (&again->stamp, &model->stamp)))
    return sl_fail_null (error, SL_ERROR_OPEN,
                         "the file was written to since it was loaded; load it again");
  if (graph == NULL || found)
    return g_steal_pointer (&graph);
  if (skips && sl_graph_quantized_input (graph) == NULL)
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "the QUANTIZE of its input is not there any more");
  if (skips)
    sl_graph_skip_input_quantize (graph);
  const gboolean shares = !sl_file_stamp_is_fresh (&again->stamp) && sl_graph_whole (graph) == NULL
                          && sl_model_data_files (model) == NULL;
  SlGraph *made = g_steal_pointer (&graph);
  return shares ? sl_graph_share (made, identity) : made;
}

SlGraph *
sl_model_batch_graph (SlModel *model, guint n, GError **error)
{
  g_autoptr (SlModel) again = g_new0 (SlModel, 1);
  g_atomic_ref_count_init (&again->refs);
  again->path = g_strdup (model->path);
  again->batch = n;
  again->precision = model->precision;
  again->external = model->external != NULL ? sl_external_model_ref (model->external) : NULL;
  if (model->has_fixed)
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "inputs are fixed (fixed-inputs), which have no batch");
  g_autoptr (SlFixedInputs) none = sl_fixed_inputs_read (NULL, NULL, error);
  again->fixed = none;
  return none != NULL ? read_batch (again, model, error) : NULL;
}
