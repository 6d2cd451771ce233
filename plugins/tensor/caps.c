/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensor caps, written and read. A shape has several spellings among elements that negotiate
 * other/tensors: trailing ones (outermost dimensions) kept, dropped, or added up to a fixed rank;
 * "," or "." between tensors. Caps written here list all of them, the model's own first, so that
 * fixating picks that one; reading takes any.
 */
#include "plugins/tensor/caps.h"

#include "core/base/fail.h"

#include <string.h>

/* Ranks to spell a shape at: 0 stands for the tensor's own, 1 for no trailing ones, the rest are
 * what other elements pad to. */
static const guint spelled_ranks[] = { 0, 1, 4, 8, 16 };
#define MAX_SPELLED_RANK 16

typedef struct
{
  const char *structure, *dimensions, *types;
} CapsNames;

static const CapsNames tensors_names = { SL_TENSORS_CAPS_NAME, "dimensions", "types" };
static const CapsNames tensor_names = { SL_TENSOR_CAPS_NAME, "dimension", "type" };

static gboolean
same_image (const SlImageContract *a, const SlImageContract *b)
{
  return a->valid == b->valid && a->range_known == b->range_known
         && memcmp (a->gain, b->gain, sizeof a->gain) == 0
         && memcmp (a->offset, b->offset, sizeof a->offset) == 0;
}

static gboolean
same_labels (const SlLabels *a, const SlLabels *b)
{
  if (a == b)
    return TRUE;
  if (a == NULL || b == NULL || sl_labels_count (a) != sl_labels_count (b))
    return FALSE;
  for (guint i = 0; i < sl_labels_count (a); i++)
    if (g_strcmp0 (sl_labels_get (a, i), sl_labels_get (b, i)) != 0)
      return FALSE;
  return TRUE;
}

/* Classes that sentences describe may change while their number and the model stay. */
static gboolean
same_words (const SlWordVectors *a, const SlWordVectors *b)
{
  return a->n == b->n && a->shown == b->shown && a->length == b->length
         && a->n_columns == b->n_columns
         && (a->n_columns == 0
             || memcmp (a->columns, b->columns, a->n_columns * sizeof *a->columns) == 0)
         && (a->numbers == NULL) == (b->numbers == NULL)
         && (a->numbers == NULL
             || memcmp (a->numbers, b->numbers, (gsize) a->n * a->length * sizeof *a->numbers)
                  == 0);
}

static gint
contract_compare (const GValue *a, const GValue *b)
{
  const SlContract *left = g_value_get_boxed (a), *right = g_value_get_boxed (b);
  if (left == right)
    return GST_VALUE_EQUAL;
  if (left == NULL || right == NULL || g_strcmp0 (left->model, right->model) != 0
      || !same_image (&left->image, &right->image) || !same_words (&left->words, &right->words)
      || !same_labels (left->labels, right->labels))
    return GST_VALUE_UNORDERED;
  g_autofree char *left_text = sl_contract_summary (left);
  g_autofree char *right_text = sl_contract_summary (right);
  return strcmp (left_text, right_text) == 0 ? GST_VALUE_EQUAL : GST_VALUE_UNORDERED;
}

static gchar *
contract_serialize (const GValue *value)
{
  const SlContract *contract = g_value_get_boxed (value);
  GValue text = G_VALUE_INIT;
  g_value_init (&text, G_TYPE_STRING);
  g_value_take_string (&text,
                       contract != NULL ? sl_contract_summary (contract) : g_strdup ("none"));
  gchar *serialized = gst_value_serialize (&text);
  g_value_unset (&text);
  return serialized;
}

GType
sl_contract_get_type (void)
{
  static GType type = 0;
  if (g_once_init_enter (&type)) {
    /* Another plugin file may have it already. */
    GType registered = g_type_from_name ("SlContract");
    if (registered == G_TYPE_INVALID) {
      registered = g_boxed_type_register_static ("SlContract", (GBoxedCopyFunc) sl_contract_ref,
                                                 (GBoxedFreeFunc) sl_contract_unref);
      static GstValueTable table = { 0, contract_compare, contract_serialize,
                                     NULL }; /* GStreamer keeps the pointer */
      table.type = registered;
      gst_value_register (&table);
    }
    g_once_init_leave (&type, registered);
  }
  return type;
}

static guint
significant_rank (const SlTensorInfo *tensor)
{
  guint outer = 0;
  while (outer + 1 < tensor->rank && tensor->dims[outer] == 1)
    outer++;
  return MAX (tensor->rank - outer, 1);
}

static void
append_dimensions (GString *out, const SlTensorInfo *tensor, guint spelled_rank)
{
  guint rank =
    spelled_rank == 0 ? MAX (tensor->rank, 1) : MAX (significant_rank (tensor), spelled_rank);
  for (guint i = 0; i < rank; i++)
    g_string_append_printf (out, "%s%d", i > 0 ? ":" : "",
                            i < tensor->rank ? tensor->dims[tensor->rank - 1 - i] : 1);
}

static void
append_string (GValue *list, char *text)
{
  for (guint i = 0; i < gst_value_list_get_size (list); i++) {
    if (strcmp (g_value_get_string (gst_value_list_get_value (list, i)), text) == 0) {
      g_free (text);
      return;
    }
  }
  GValue value = G_VALUE_INIT;
  g_value_init (&value, G_TYPE_STRING);
  g_value_take_string (&value, text);
  gst_value_list_append_and_take_value (list, &value);
}

/* Takes @list: one spelling becomes a plain string, which fixed caps need. */
static void
take_strings (GstStructure *structure, const char *field, GValue *list)
{
  if (gst_value_list_get_size (list) == 1)
    gst_structure_set_value (structure, field, gst_value_list_get_value (list, 0));
  else
    gst_structure_set_value (structure, field, list);
  g_value_unset (list);
}

static void
set_tensors (GstStructure *structure, const CapsNames *names, const SlTensorInfo *tensors, guint n)
{
  static const char separators[] = { ',', '.' };
  GValue dimensions = G_VALUE_INIT, types = G_VALUE_INIT;
  g_value_init (&dimensions, GST_TYPE_LIST);
  g_value_init (&types, GST_TYPE_LIST);
  for (guint s = 0; s < (n > 1 ? G_N_ELEMENTS (separators) : 1); s++) {
    for (guint r = 0; r < G_N_ELEMENTS (spelled_ranks); r++) {
      GString *text = g_string_new (NULL);
      for (guint i = 0; i < n; i++) {
        if (i > 0)
          g_string_append_c (text, separators[s]);
        append_dimensions (text, &tensors[i], spelled_ranks[r]);
      }
      append_string (&dimensions, g_string_free (text, FALSE));
    }
    GString *text = g_string_new (NULL);
    for (guint i = 0; i < n; i++) {
      if (i > 0)
        g_string_append_c (text, separators[s]);
      g_string_append (text, sl_dtype_name (tensors[i].dtype));
    }
    append_string (&types, g_string_free (text, FALSE));
  }
  take_strings (structure, names->dimensions, &dimensions);
  take_strings (structure, names->types, &types);
}

static void
append_tensors (GstCaps *caps, const CapsNames *names, const SlTensorInfo *tensors, guint n,
                SlContract *contract)
{
  GstStructure *structure = gst_structure_new_empty (names->structure);
  if (names == &tensors_names)
    gst_structure_set (structure, "format", G_TYPE_STRING, "static", "num_tensors", G_TYPE_INT,
                       (gint) n, NULL);
  set_tensors (structure, names, tensors, n);
  gst_structure_set (structure, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, NULL);
  if (contract != NULL)
    gst_structure_set (structure, "contract", SL_TYPE_CONTRACT, contract, NULL);
  gst_caps_append_structure (caps, structure);
}

GstCaps *
sl_tensor_caps_new (const SlTensorInfo *tensors, guint n, SlContract *contract)
{
  g_return_val_if_fail (n >= 1 && n <= SL_MAX_IO, NULL);
  GstCaps *caps = gst_caps_new_empty ();
  append_tensors (caps, &tensors_names, tensors, n, contract);
  if (n == 1)
    append_tensors (caps, &tensor_names, tensors, n, contract);
  return caps;
}

static gboolean
parse_dimensions (const char *text, SlTensorInfo *tensor, GError **error)
{
  gint32 inner[MAX_SPELLED_RANK];
  guint rank = 0;
  const char *at = text;
  for (;;) {
    char *end = NULL;
    gint64 value = g_ascii_isdigit (*at) ? g_ascii_strtoll (at, &end, 10) : 0;
    if (end == NULL || value < 1 || value > G_MAXINT32 || (*end != ':' && *end != '\0')
        || rank == MAX_SPELLED_RANK)
      return sl_fail (
        error, SL_ERROR_SHAPE,
        "tensor caps: dimensions \"%s\": expected up to %d numbers from 1 with ':' between, "
        "innermost first, such as 3:224:224:1",
        text, MAX_SPELLED_RANK);
    inner[rank++] = (gint32) value;
    if (*end == '\0')
      break;
    at = end + 1;
  }
  while (rank > SL_MAX_RANK && inner[rank - 1] == 1)
    rank--;
  if (rank > SL_MAX_RANK)
    return sl_fail (
      error, SL_ERROR_SHAPE,
      "tensor caps: dimensions \"%s\": expected at most %d besides trailing ones, got %u", text,
      SL_MAX_RANK, rank);
  tensor->rank = rank;
  tensor->bytes = sl_dtype_size (tensor->dtype);
  for (guint i = 0; i < rank; i++) {
    tensor->dims[rank - 1 - i] = inner[i];
    if (!g_size_checked_mul (&tensor->bytes, tensor->bytes, (gsize) inner[i])
        || tensor->bytes > SL_MAX_TENSOR_BYTES)
      return sl_fail (error, SL_ERROR_LIMIT,
                      "tensor caps: dimensions \"%s\" of %s are more than %" G_GSIZE_FORMAT
                      " bytes",
                      text, sl_dtype_name (tensor->dtype), SL_MAX_TENSOR_BYTES);
  }
  return TRUE;
}

static gboolean
parse_tensor (const char *dimensions, const char *type, SlTensorInfo *tensor, GError **error)
{
  g_autofree char *name = g_strstrip (g_strdup (type));
  g_autofree char *shape = g_strstrip (g_strdup (dimensions));
  memset (tensor, 0, sizeof *tensor);
  tensor->dtype = sl_dtype_from_name (name);
  if (tensor->dtype == SL_DTYPE_INVALID)
    return sl_fail (
      error, SL_ERROR_SHAPE,
      "tensor caps: type \"%s\" is unknown; expected uint8, int8, float32 or another NumPy name",
      name);
  if (!parse_dimensions (shape, tensor, error))
    return FALSE;
  tensor->name = g_strdup ("");
  return TRUE;
}

guint
sl_tensor_caps_parse (const GstCaps *caps, SlTensorInfo tensors[SL_MAX_IO], GError **error)
{
  if (!gst_caps_is_fixed (caps)) {
    g_autofree char *text = gst_caps_to_string (caps);
    sl_fail (error, SL_ERROR_SHAPE, "tensor caps: expected fixed caps, got %s", text);
    return 0;
  }
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const CapsNames *names =
    gst_structure_has_name (structure, tensor_names.structure) ? &tensor_names : &tensors_names;
  const char *dimensions = gst_structure_get_string (structure, names->dimensions);
  const char *types = gst_structure_get_string (structure, names->types);
  gint n = 1;
  if (names == &tensors_names)
    gst_structure_get_int (structure, "num_tensors", &n);
  if (!gst_structure_has_name (structure, names->structure) || dimensions == NULL || types == NULL
      || n < 1 || n > SL_MAX_IO) {
    g_autofree char *text = gst_caps_to_string (caps);
    sl_fail (error, SL_ERROR_SHAPE,
             "tensor caps: expected other/tensors,format=static,num_tensors=1..%d,dimensions=...,"
             "types=..., got %s",
             SL_MAX_IO, text);
    return 0;
  }
  g_auto (GStrv) shapes = g_strsplit_set (dimensions, ",.", -1);
  g_auto (GStrv) kinds = g_strsplit_set (types, ",.", -1);
  if (g_strv_length (shapes) != (guint) n || g_strv_length (kinds) != (guint) n) {
    sl_fail (error, SL_ERROR_SHAPE,
             "tensor caps: num_tensors=%d, but dimensions \"%s\" name %u and types \"%s\" name %u",
             n, dimensions, g_strv_length (shapes), types, g_strv_length (kinds));
    return 0;
  }
  for (gint i = 0; i < n; i++) {
    if (!parse_tensor (shapes[i], kinds[i], &tensors[i], error)) {
      sl_tensor_infos_clear (tensors, (guint) i);
      return 0;
    }
  }
  return (guint) n;
}

SlContract *
sl_tensor_caps_contract (const GstCaps *caps)
{
  if (caps == NULL || gst_caps_is_any (caps) || gst_caps_is_empty (caps))
    return NULL;
  const GValue *value = gst_structure_get_value (gst_caps_get_structure (caps, 0), "contract");
  return value != NULL && G_VALUE_HOLDS (value, SL_TYPE_CONTRACT) ? g_value_get_boxed (value)
                                                                  : NULL;
}

static gboolean
list_has (const GValue *list, const char *text)
{
  for (guint i = 0; i < gst_value_list_get_size (list); i++)
    if (g_strcmp0 (g_value_get_string (gst_value_list_get_value (list, i)), text) == 0)
      return TRUE;
  return FALSE;
}

/* Sets @field to @text where the caps leave it open. */
static void
prefer (GstStructure *structure, const char *field, const char *text)
{
  const GValue *value = gst_structure_get_value (structure, field);
  if (value == NULL || (GST_VALUE_HOLDS_LIST (value) && list_has (value, text)))
    gst_structure_set (structure, field, G_TYPE_STRING, text, NULL);
}

void
sl_tensor_caps_prefer (GstCaps *caps, const SlTensorInfo *tensor)
{
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  const gboolean single = gst_structure_has_name (structure, SL_TENSOR_CAPS_NAME);
  g_autoptr (GString) dimensions = g_string_new (NULL);
  append_dimensions (dimensions, tensor, 0);
  prefer (structure, single ? "type" : "types", sl_dtype_name (tensor->dtype));
  prefer (structure, single ? "dimension" : "dimensions", dimensions->str);
}

gboolean
sl_tensors_same (const SlTensorInfo *a, guint n_a, const SlTensorInfo *b, guint n_b)
{
  if (n_a != n_b)
    return FALSE;
  for (guint i = 0; i < n_a; i++) {
    guint rank = significant_rank (&a[i]);
    if (a[i].dtype != b[i].dtype || rank != significant_rank (&b[i]))
      return FALSE;
    for (guint d = 1; d <= rank; d++) {
      gint32 left = d <= a[i].rank ? a[i].dims[a[i].rank - d] : 1;
      gint32 right = d <= b[i].rank ? b[i].dims[b[i].rank - d] : 1;
      if (left != right)
        return FALSE;
    }
  }
  return TRUE;
}

GstCaps *
sl_caps_transform (GstCaps *caps, GstCaps *filter, SlCapsMap map, gpointer data)
{
  GstCaps *all = gst_caps_new_empty ();
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GValue *rate = gst_structure_get_value (gst_caps_get_structure (caps, i), "framerate");
    g_autoptr (GstCaps) one = gst_caps_copy_nth (caps, i);
    GstCaps *other = map (one, data);
    if (rate != NULL)
      gst_caps_set_value (other, "framerate", rate);
    all = gst_caps_merge (all, other);
  }
  if (filter != NULL) {
    GstCaps *filtered = gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (all);
    return filtered;
  }
  return all;
}
