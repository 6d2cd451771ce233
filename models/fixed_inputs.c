/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts and files to constants. Files are read before the model is, since a graph is shared by
 * those with the same constants.
 */
#include "models/fixed_inputs.h"

#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "core/base/xxh64.h"
#include "models/data_file.h"
#include "models/io_names.h"
#include "models/file.h"
#include "models/npy.h"
#include "core/base/fail.h"

/* Bits of the exponent of float16. */
#define HALF_INFINITY 0x7c00

#define MAX_BYTES ((gsize) 256 << 20)
/* Channels of an input that is a picture and one more. */
#define CHANNELS 4
#define LAST_CHANNEL "[3]"
/* Numbers of an input that are stated one by one. */
#define MAX_NUMBERS 64
#define SYNTAX                                                                                     \
  "expected INPUT=VALUE with ';' between, INPUT a number or a name, VALUE a number, numbers with " \
  "',' between or a file, such as 1=style.npy"

typedef struct
{
  char *input, *value; /* as they are stated */
  GBytes *bytes;       /* (nullable): of a file */
} Fixed;

struct _SlFixedInputs
{
  GArray *inputs; /* of Fixed */
};

static void
fixed_clear (gpointer data)
{
  Fixed *fixed = data;
  g_free (fixed->input);
  g_free (fixed->value);
  g_clear_pointer (&fixed->bytes, g_bytes_unref);
}

/* How many numbers @value is, with ',' between; 0 where it is something else. @numbers: (nullable)
 */
static guint
read_numbers (const char *value, gdouble numbers[MAX_NUMBERS])
{
  g_auto (GStrv) pieces = g_strsplit (value, ",", MAX_NUMBERS + 1);
  const guint n = g_strv_length (pieces);
  gdouble number;
  for (guint i = 0; i < n && i < MAX_NUMBERS; i++) {
    char *piece = g_strstrip (pieces[i]), *end = NULL;
    number = g_ascii_strtod (piece, &end);
    if (end == piece || *end != '\0' || !isfinite (number))
      return 0;
    if (numbers != NULL)
      numbers[i] = number;
  }
  return n <= MAX_NUMBERS ? n : 0;
}

static gboolean
read_value (Fixed *fixed, const char *beside, GError **error)
{
  if (read_numbers (fixed->value, NULL) > 0)
    return TRUE;
  g_autofree char *folder =
    beside != NULL && !g_path_is_absolute (fixed->value) ? g_path_get_dirname (beside) : NULL;
  g_autofree char *path =
    folder != NULL ? g_build_filename (folder, fixed->value, NULL) : g_strdup (fixed->value);
  fixed->bytes = sl_file_read (path, "a number or a file with the tensor", MAX_BYTES, error);
  if (fixed->bytes == NULL)
    return sl_fail_prefix (error, "fixed-inputs: %s: ", path);
  if (g_bytes_get_size (fixed->bytes) <= MAX_BYTES)
    return TRUE;
  return sl_fail (error, SL_ERROR_LIMIT, "fixed-inputs: %s: more than %" G_GSIZE_FORMAT " bytes",
                  path, MAX_BYTES);
}

static SlFixedInputs *
split (const char *text, GError **error)
{
  g_autoptr (SlFixedInputs) all = g_new0 (SlFixedInputs, 1);
  all->inputs = g_array_new (FALSE, TRUE, sizeof (Fixed));
  g_array_set_clear_func (all->inputs, fixed_clear);
  g_auto (GStrv) pieces = g_strsplit (text != NULL ? text : "", ";", -1);
  for (guint i = 0; pieces[i] != NULL; i++) {
    char *piece = g_strstrip (pieces[i]), *equals = strchr (piece, '=');
    if (piece[0] == '\0' && pieces[i + 1] == NULL)
      break;
    if (equals == NULL || equals == piece || equals[1] == '\0' || all->inputs->len == SL_MAX_IO)
      return sl_fail_null (error, SL_ERROR_ARGUMENT, "fixed-inputs: " SYNTAX ", got '%s'", text);
    *equals = '\0';
    const Fixed next = { g_strdup (g_strstrip (piece)), g_strdup (g_strstrip (equals + 1)), NULL };
    g_array_append_val (all->inputs, next);
  }
  return g_steal_pointer (&all);
}

gboolean
sl_fixed_inputs_check (const char *text, GError **error)
{
  g_autoptr (SlFixedInputs) all = split (text, error);
  return all != NULL;
}

SlFixedInputs *
sl_fixed_inputs_read (const char *text, const char *beside, GError **error)
{
  g_autoptr (SlFixedInputs) all = split (text, error);
  for (guint i = 0; all != NULL && i < all->inputs->len; i++)
    if (!read_value (&g_array_index (all->inputs, Fixed, i), beside, error))
      return NULL;
  return g_steal_pointer (&all);
}

void
sl_fixed_inputs_free (SlFixedInputs *all)
{
  if (all == NULL)
    return;
  g_array_unref (all->inputs);
  g_free (all);
}

guint64
sl_fixed_inputs_hash (const SlFixedInputs *all)
{
  guint64 hash = 0;
  for (guint i = 0; i < all->inputs->len; i++) {
    const Fixed *fixed = &g_array_index (all->inputs, Fixed, i);
    gsize size = 0;
    const void *data = fixed->bytes != NULL ? g_bytes_get_data (fixed->bytes, &size) : NULL;
    hash = sl_xxh64 (fixed->input, strlen (fixed->input) + 1, hash);
    hash = sl_xxh64 (fixed->value, strlen (fixed->value) + 1, hash);
    if (size > 0)
      hash = sl_xxh64 (data, size, hash);
  }
  return hash;
}

/* Writes @number as one element of @tensor; FALSE where its type does not have it. */
static gboolean
store_number (const SlTensor *tensor, gdouble number, void *element)
{
  const gfloat scale = sl_tensor_scale (tensor), single = (gfloat) number;
  const guint16 half = sl_half_from_float (single);
  gint32 lo, hi;
  switch (tensor->dtype) {
    case SL_DTYPE_F32:
      memcpy (element, &single, sizeof single);
      return isfinite (single);
    case SL_DTYPE_F16:
      memcpy (element, &half, sizeof half);
      return (half & HALF_INFINITY) != HALF_INFINITY;
    case SL_DTYPE_BOOL:
      *(guint8 *) element = number != 0;
      return TRUE;
    default:
      break;
  }
  const gsize size = sl_dtype_size (tensor->dtype);
  if (scale > 0)
    number = number / (gdouble) scale + sl_tensor_zero_point (tensor);
  const gint64 whole = fabs (number) < 1e15 ? (gint64) nearbyint (number) : G_MAXINT64;
  const gboolean wide = tensor->dtype == SL_DTYPE_I64;
  if ((!(scale > 0) && (gdouble) whole != number)
      || (!wide && (!sl_dtype_range (tensor->dtype, &lo, &hi) || whole < lo || whole > hi)))
    return FALSE;
  memcpy (element, &whole, size); /* little-endian */
  return TRUE;
}

static gboolean
bad_value (const Fixed *fixed, const SlTensor *tensor, const char *got, GError **error)
{
  g_autofree char *expected = sl_tensor_describe (tensor);
  return sl_fail (error, SL_ERROR_SHAPE, "fixed-inputs: %s: expected %s for input '%s', got %s",
                  fixed->value, expected, tensor->name, got);
}

/* @size bytes of @tensor, which was made for them, from what is stated. */
static gboolean
fill (const Fixed *fixed, const SlTensor *tensor, guint8 *data, gsize size, GError **error)
{
  const gsize element = sl_dtype_size (tensor->dtype);
  if (fixed->bytes == NULL) {
    gdouble numbers[MAX_NUMBERS];
    const guint n = read_numbers (fixed->value, numbers);
    g_autofree char *got_numbers = g_strdup_printf ("%u numbers", n);
    if (n == 0 || (n > 1 && n != size / element))
      return bad_value (fixed, tensor, got_numbers, error);
    for (gsize i = 0; i < size / element; i++)
      if (!store_number (tensor, numbers[n > 1 ? i : 0], data + i * element))
        return bad_value (fixed, tensor, "a number that it cannot hold", error);
    return TRUE;
  }
  SlTensorInfo info;
  gsize length = 0, offset = 0;
  const guint8 *bytes = g_bytes_get_data (fixed->bytes, &length);
  const gboolean is_npy = g_str_has_suffix (fixed->value, ".npy");
  if (is_npy && !sl_npy_parse (fixed->bytes, &info, &offset, error))
    return sl_fail_prefix (error, "fixed-inputs: %s: ", fixed->value);
  g_autofree char *got = is_npy ? sl_tensor_info_describe (&info)
                                : g_strdup_printf ("%" G_GSIZE_FORMAT " bytes", length);
  if (is_npy ? info.dtype != tensor->dtype
                 || !sl_dims_same_but_ones (tensor->dims, tensor->rank, info.dims, info.rank)
             : length != size)
    return bad_value (fixed, tensor, got, error);
  memcpy (data, bytes + offset, size);
  return TRUE;
}

/* The last channel of an input of four: the axis it is on; -1 = the input has no four. */
static gint
find_channels (const SlTensor *tensor)
{
  if (tensor->rank == 4 && (tensor->dims[3] == CHANNELS || tensor->dims[1] == CHANNELS))
    return tensor->dims[3] == CHANNELS ? 3 : 1;
  return tensor->rank == 3 && tensor->dims[2] == CHANNELS ? 2 : -1;
}

/* (nullable): the bytes that @tensor, input @input or a part of it, is to have, noted in @files. */
static const void *
make_constant (const Fixed *fixed, SlGraph *graph, const SlTensor *tensor, guint input,
               GHashTable **files, GError **error)
{
  gsize elements = 0, size = 0;
  gboolean good = FALSE;
  for (guint i = 0; i < tensor->rank; i++)
    if (tensor->dims[i] < 1) {
      bad_value (fixed, tensor, "a value for a size that is open: state input-shape", error);
      return NULL;
    }
  if (sl_tensor_elements (tensor, &elements)
      && g_size_checked_mul (&size, elements, sl_dtype_size (tensor->dtype)))
    good = size > 0 && size <= sl_graph_limit (graph);
  if (!good) {
    bad_value (fixed, tensor, "a tensor of a type or a size that is not read", error);
    return NULL;
  }
  guint8 *data = sl_arena_alloc (sl_graph_arena (graph), size + SL_TENSOR_PADDING);
  if (!fill (fixed, tensor, data, size, error))
    return NULL;
  if (files != NULL)
    sl_data_files_note (files, SL_DATA_FIXED_INPUTS, input, data, size);
  return data;
}

static gboolean
fix_channel (const Fixed *fixed, SlGraph *graph, guint input, GHashTable **files, GError **error)
{
  SlTensor channel = *sl_graph_input_tensor (graph, input);
  const gint axis = find_channels (&channel);
  if (axis < 0)
    return bad_value (fixed, &channel, "its channel [3]; expected an input of 4 channels", error);
  if (sl_graph_n_nodes (graph) == 0)
    return bad_value (fixed, &channel, "its channel [3], which Sightline's own backend fixes alone",
                      error);
  channel.dims[axis] = 1;
  const void *data = make_constant (fixed, graph, &channel, input, files, error);
  return data != NULL && sl_graph_fix_channels (graph, input, (guint) axis, 1, data, error);
}

static gboolean
fix (const Fixed *fixed, SlGraph *graph, guint input, SlState *state, GHashTable **files,
     GError **error)
{
  const void *data =
    make_constant (fixed, graph, sl_graph_input_tensor (graph, input), input, files, error);
  if (data == NULL)
    return FALSE;
  const gint held = sl_state_find (state, sl_graph_input (graph, input));
  if (held >= 0)
    state->first[held] = data;
  else
    sl_graph_fix_input (graph, input, data);
  return TRUE;
}

gboolean
sl_fixed_inputs_apply (const SlFixedInputs *all, SlGraph *graph, SlState *state, GHashTable **files,
                       GError **error)
{
  const Fixed *by_input[SL_MAX_IO] = { NULL };
  gboolean of_channel[SL_MAX_IO] = { FALSE };
  guint left = sl_graph_n_inputs (graph) - state->n;
  for (guint i = 0; i < all->inputs->len; i++) {
    const Fixed *fixed = &g_array_index (all->inputs, Fixed, i);
    gint at = sl_io_names_find (graph, FALSE, fixed->input, "fixed-inputs", NULL);
    const gboolean is_channel = at < 0 && g_str_has_suffix (fixed->input, LAST_CHANNEL);
    if (is_channel) {
      g_autofree char *input =
        g_strndup (fixed->input, strlen (fixed->input) - strlen (LAST_CHANNEL));
      at = sl_io_names_find (graph, FALSE, input, "fixed-inputs", NULL);
    }
    if (at < 0)
      sl_io_names_find (graph, FALSE, fixed->input, "fixed-inputs", error);
    if (at < 0)
      return FALSE;
    const gboolean held = sl_state_find (state, sl_graph_input (graph, (guint) at)) >= 0;
    if (by_input[at] != NULL || (held && is_channel) || (!held && left == 1 && !is_channel))
      return sl_fail (error, SL_ERROR_ARGUMENT, "fixed-inputs: input '%s' is %s", fixed->input,
                      by_input[at] != NULL || held
                        ? "stated twice"
                        : "the last one; expected one to be left for pictures");
    by_input[at] = fixed;
    of_channel[at] = is_channel;
    left -= is_channel || held ? 0 : 1;
  }
  /* From the last on, so that the places of the others stay. */
  for (guint i = sl_graph_n_inputs (graph); i-- > 0;)
    if (by_input[i] != NULL
        && !(of_channel[i] ? fix_channel (by_input[i], graph, i, files, error)
                           : fix (by_input[i], graph, i, state, files, error)))
      return FALSE;
  return TRUE;
}
