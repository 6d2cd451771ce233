/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads MODEL.modelinfo. Malformed values are refused here, contradictions of the graph in
 * sl_modelinfo_check(), and contradictions of the rest of the contract in contract.c. Messages name
 * file, group and key.
 */
#include "models/modelinfo.h"

#include <string.h>

#include "core/base/fail.h"
#include "models/file.h"
#include "models/numbers.h"

#define SUFFIX ".modelinfo"
#define MAX_BYTES ((gsize) 1 << 20)
#define HEADER "modelinfo"
#define OURS "sightline"
#define VERSION "1.0"
#define NEXT_VERSION "1.1" /* adds keys that are not ours */
#define PARAM_PREFIX "decoder-"

static gboolean
bad_value (GError **error, const SlModelInfo *info, const char *group, const char *key,
           const char *expected, const char *got)
{
  return sl_fail (error, SL_ERROR_CONTRACT, "%s: [%s] %s: expected %s, got '%s'", info->path, group,
                  key, expected, got);
}

static void
tensor_clear (gpointer data)
{
  g_free (((SlInfoTensor *) data)->name);
  g_free (((SlInfoTensor *) data)->id);
}

static char *
get_text (GKeyFile *file, const char *group, const char *key)
{
  g_autofree char *value = g_key_file_get_string (file, group, key, NULL);
  if (value == NULL) /* an escape that GKeyFile does not know: take the text as it stands */
    value = g_key_file_get_value (file, group, key, NULL);
  return value != NULL ? g_strstrip (g_steal_pointer (&value)) : NULL;
}

static gboolean
read_dir (GKeyFile *file, const SlModelInfo *info, SlInfoTensor *tensor, GError **error)
{
  g_autofree char *text = get_text (file, tensor->name, "dir");
  if (text == NULL)
    return TRUE;
  tensor->dir = g_ascii_strcasecmp (text, "input") == 0    ? SL_INFO_INPUT
                : g_ascii_strcasecmp (text, "output") == 0 ? SL_INFO_OUTPUT
                                                           : SL_INFO_ANY;
  return tensor->dir != SL_INFO_ANY
         || bad_value (error, info, tensor->name, "dir", "input or output", text);
}

static gboolean
read_type (GKeyFile *file, const SlModelInfo *info, SlInfoTensor *tensor, GError **error)
{
  g_autofree char *text = get_text (file, tensor->name, "type");
  if (text == NULL)
    return TRUE;
  tensor->dtype = sl_dtype_from_name (text);
  return tensor->dtype != SL_DTYPE_INVALID
         || bad_value (error, info, tensor->name, "type",
                       "an element type like uint8, int8 or float32", text);
}

static gboolean
read_dims (GKeyFile *file, const SlModelInfo *info, SlInfoTensor *tensor, GError **error)
{
  g_autofree char *text = get_text (file, tensor->name, "dims");
  g_autofree char *order = get_text (file, tensor->name, "dims-order");
  gdouble values[SL_MAX_RANK];
  const gboolean columns = order != NULL && g_ascii_strcasecmp (order, "col-major") == 0;
  if (order != NULL && !columns && g_ascii_strcasecmp (order, "row-major") != 0)
    return bad_value (error, info, tensor->name, "dims-order", "row-major or col-major", order);
  if (text == NULL)
    return TRUE;
  tensor->rank = sl_numbers_parse (text, values, SL_MAX_RANK);
  for (guint i = 0; i < tensor->rank; i++) {
    const gdouble value = values[columns ? tensor->rank - 1 - i : i];
    if (value != -1 && (value < 1 || value > G_MAXINT32 || value != (gint32) value))
      return bad_value (error, info, tensor->name, "dims",
                        "sizes of 1 or more, -1 for any, ',' between", text);
    tensor->dims[i] = (gint32) value;
  }
  return tensor->rank > 0
         || bad_value (error, info, tensor->name, "dims",
                       "1 to 8 sizes with ',' between, -1 for any", text);
}

static gboolean
read_ranges (GKeyFile *file, const SlModelInfo *info, SlInfoTensor *tensor, GError **error)
{
  static const char expected[] =
    "'min,max', or one such pair a channel with ';' between, min and max different";
  g_autofree char *text = get_text (file, tensor->name, "ranges");
  if (text == NULL)
    return TRUE;
  g_auto (GStrv) pairs = g_strsplit (text, ";", 5);
  for (guint i = 0; pairs[i] != NULL; i++) {
    gdouble pair[2];
    if (g_strstrip (pairs[i])[0] == '\0' && i > 0 && pairs[i + 1] == NULL)
      break;
    if (i >= 3 || sl_numbers_parse (pairs[i], pair, 2) != 2 || pair[0] == pair[1])
      return bad_value (error, info, tensor->name, "ranges", expected, text);
    tensor->lo[i] = pair[0];
    tensor->hi[i] = pair[1];
    tensor->n_ranges = i + 1;
  }
  return tensor->n_ranges == 1 || tensor->n_ranges == 3
         || bad_value (error, info, tensor->name, "ranges", "1 or 3 pairs", text);
}

/* (nullable): what a generator of these files leaves to be filled in is nothing stated. */
static char *
read_id (GKeyFile *file, const char *group)
{
  g_autofree char *id = get_text (file, group, "id");
  return id != NULL && id[0] != '\0' && !g_str_has_prefix (id, "PLACEHOLDER")
           ? g_steal_pointer (&id)
           : NULL;
}

static gboolean
read_tensor (GKeyFile *file, SlModelInfo *info, const char *group, GError **error)
{
  SlInfoTensor tensor = { .name = g_strdup (group), .id = read_id (file, group) };
  const gboolean good =
    read_dir (file, info, &tensor, error) && read_type (file, info, &tensor, error)
    && read_dims (file, info, &tensor, error) && read_ranges (file, info, &tensor, error);
  g_array_append_val (info->tensors, tensor);
  return good;
}

static gboolean
set_key (SlModelInfo *info, const char *group, const SlSetting *setting, const char *value,
         GError **error)
{
  if (value == NULL || value[0] == '\0')
    return bad_value (error, info, group, setting->name, "a value", "");
  if (setting->kind == SL_SETTING_BOOL && !sl_setting_check (setting, value, NULL)) {
    g_autofree char *expected = sl_setting_expected (setting);
    return bad_value (error, info, group, setting->name, expected, value);
  }
  if (sl_setting_get (setting, &info->keys) != NULL)
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "%s: [%s] %s: stated in [" OURS "] too; expected it once", info->path, group,
                    setting->name);
  sl_setting_set (setting, &info->keys, value);
  return TRUE;
}

/* @setting: (nullable): what the user may state by that name. */
static gboolean
unknown_key (const SlModelInfo *info, const char *key, const SlSetting *setting, GError **error)
{
  guint n;
  const SlSetting *table = sl_settings_table (&n);
  g_autoptr (GString) known = g_string_new (NULL);
  if (setting != NULL)
    return sl_fail (
      error, SL_ERROR_CONTRACT,
      "%s: [" OURS
      "] %s: not taken from a file that comes with a model; expected it as property or option",
      info->path, key);
  for (guint i = 0; i < n; i++)
    if ((table[i].doors & SL_DOOR_KEY_FILE) != 0)
      g_string_append_printf (known, "%s, ", table[i].name);
  return sl_fail (error, SL_ERROR_CONTRACT,
                  "%s: [" OURS "] %s: unknown key; expected one of %s" PARAM_PREFIX "NAME",
                  info->path, key, known->str);
}

static gboolean
read_key (GKeyFile *file, SlModelInfo *info, const char *group, const char *key, gboolean strict,
          GError **error)
{
  const SlSetting *setting = sl_setting_find (key);
  g_autofree char *value = get_text (file, group, key);
  if (setting != NULL && (setting->doors & SL_DOOR_KEY_FILE) != 0)
    return set_key (info, group, setting, value, error);
  if (g_str_has_prefix (key, PARAM_PREFIX)) {
    g_hash_table_replace (info->params, g_strdup (key + strlen (PARAM_PREFIX)),
                          g_steal_pointer (&value));
    return TRUE;
  }
  return !strict || unknown_key (info, key, setting, error);
}

static gboolean
read_our_keys (GKeyFile *file, SlModelInfo *info, const char *group, gboolean strict,
               GError **error)
{
  g_auto (GStrv) keys = g_key_file_get_keys (file, group, NULL, NULL);
  for (guint i = 0; keys != NULL && keys[i] != NULL; i++)
    if (!read_key (file, info, group, keys[i], strict, error))
      return FALSE;
  return TRUE;
}

static gboolean
check_version (GKeyFile *file, const SlModelInfo *info, GError **error)
{
  g_autofree char *version =
    g_key_file_has_group (file, HEADER) ? get_text (file, HEADER, "version") : NULL;
  if (version == NULL)
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "%s: [" HEADER "] version: missing; write 'version=" VERSION "' there",
                    info->path);
  return strcmp (version, VERSION) == 0 || strcmp (version, NEXT_VERSION) == 0
         || bad_value (error, info, HEADER, "version", VERSION " or " NEXT_VERSION, version);
}

static gboolean
read_groups (GKeyFile *file, SlModelInfo *info, const char *input, GError **error)
{
  g_auto (GStrv) groups = g_key_file_get_groups (file, NULL);
  if (!check_version (file, info, error))
    return FALSE;
  if (g_key_file_has_group (file, OURS) && !read_our_keys (file, info, OURS, TRUE, error))
    return FALSE;
  for (guint i = 0; groups[i] != NULL; i++) {
    if (strcmp (groups[i], HEADER) == 0 || strcmp (groups[i], OURS) == 0)
      continue;
    if (!read_tensor (file, info, groups[i], error))
      return FALSE;
    if (strcmp (groups[i], input) == 0 && !read_our_keys (file, info, groups[i], FALSE, error))
      return FALSE;
  }
  if (info->keys.labels != NULL && !g_path_is_absolute (info->keys.labels)) {
    g_autofree char *dir = g_path_get_dirname (info->path),
                    *path = g_build_filename (dir, info->keys.labels, NULL);
    sl_setting_set (sl_setting_find ("labels"), &info->keys, path);
  }
  return TRUE;
}

SlModelInfo *
sl_modelinfo_parse (GBytes *bytes, const char *path, const char *input, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (SlModelInfo) info = g_new0 (SlModelInfo, 1);
  g_autoptr (GError) cause = NULL;
  gsize length;

  info->path = g_strdup (path);
  info->tensors = g_array_new (FALSE, TRUE, sizeof (SlInfoTensor));
  g_array_set_clear_func (info->tensors, tensor_clear);
  info->params = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  const char *text = g_bytes_get_data (bytes, &length);
  if (length > MAX_BYTES)
    return sl_fail_null (error, SL_ERROR_LIMIT,
                         "%s: %" G_GSIZE_FORMAT
                         " bytes; a modelinfo file has at most %" G_GSIZE_FORMAT,
                         path, length, MAX_BYTES);
  if (!g_key_file_load_from_data (file, length > 0 ? text : "", length, G_KEY_FILE_NONE, &cause))
    return sl_fail_null (error, SL_ERROR_CONTRACT, "%s: not a key file: %s", path, cause->message);
  if (!read_groups (file, info, input, error))
    return NULL;
  return g_steal_pointer (&info);
}

char *
sl_modelinfo_find_file (const char *model)
{
  g_autofree char *appended = g_strconcat (model, SUFFIX, NULL);
  if (g_file_test (appended, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&appended);
  const char *slash = strrchr (model, '/'), *dot = strrchr (model, '.');
  if (dot == NULL || (slash != NULL && dot < slash))
    return NULL;
  g_autofree char *stem = g_strndup (model, (gsize) (dot - model));
  g_autofree char *replaced = g_strconcat (stem, SUFFIX, NULL);
  return g_file_test (replaced, G_FILE_TEST_EXISTS) ? g_steal_pointer (&replaced) : NULL;
}

SlModelInfo *
sl_modelinfo_load (const char *path, const char *input, GError **error)
{
  g_autoptr (GBytes) bytes = sl_file_read (path, "a modelinfo key file", MAX_BYTES, error);
  if (bytes != NULL)
    return sl_modelinfo_parse (bytes, path, input, error);
  g_prefix_error (error, "%s: ", path);
  return NULL;
}

char *
sl_modelinfo_early_key (const char *path, const char *key)
{
  g_autoptr (GBytes) bytes =
    path != NULL ? sl_file_read (path, "a modelinfo key file", MAX_BYTES, NULL) : NULL;
  g_autoptr (GKeyFile) file = g_key_file_new ();
  gsize length = 0;
  const char *text = bytes != NULL ? g_bytes_get_data (bytes, &length) : NULL;
  if (length == 0 || length > MAX_BYTES
      || !g_key_file_load_from_data (file, text, length, G_KEY_FILE_NONE, NULL))
    return NULL;
  return g_key_file_has_key (file, OURS, key, NULL) ? get_text (file, OURS, key) : NULL;
}

void
sl_modelinfo_free (SlModelInfo *info)
{
  if (info == NULL)
    return;
  sl_model_settings_clear (&info->keys);
  g_hash_table_unref (info->params);
  g_array_unref (info->tensors);
  g_free (info->path);
  g_free (info);
}

const SlInfoTensor *
sl_modelinfo_find (const SlModelInfo *info, const char *name)
{
  for (guint i = 0; i < info->tensors->len; i++) {
    const SlInfoTensor *tensor = &g_array_index (info->tensors, SlInfoTensor, i);
    if (strcmp (tensor->name, name) == 0)
      return tensor;
  }
  return NULL;
}

/* The input or output of that name; *dir tells which. */
static const SlTensor *
find_edge (const SlGraph *graph, const SlInfoTensor *wanted, SlInfoDir *dir)
{
  for (guint i = 0; i < sl_graph_n_inputs (graph) && wanted->dir != SL_INFO_OUTPUT; i++) {
    *dir = SL_INFO_INPUT;
    if (strcmp (sl_graph_declared_input_tensor (graph, i)->name, wanted->name) == 0)
      return sl_graph_declared_input_tensor (graph, i);
  }
  for (guint i = 0; i < sl_graph_n_outputs (graph) && wanted->dir != SL_INFO_INPUT; i++) {
    *dir = SL_INFO_OUTPUT;
    if (strcmp (sl_graph_output_tensor (graph, i)->name, wanted->name) == 0)
      return sl_graph_output_tensor (graph, i);
  }
  return NULL;
}

/* Whether the group describes an input that always has the same value. */
static gboolean
is_constant (const SlGraph *graph, const SlInfoTensor *wanted)
{
  gboolean found = FALSE;
  for (guint i = 0; i < sl_graph_n_tensors (graph) && wanted->dir != SL_INFO_OUTPUT && !found;
       i++) {
    const SlTensor *tensor = sl_graph_tensor (graph, (gint32) i);
    found = tensor->data != NULL && strcmp (tensor->name, wanted->name) == 0;
  }
  return found;
}

static gboolean
no_such_tensor (const SlModelInfo *info, const SlInfoTensor *group, const SlGraph *graph,
                GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    g_string_append_printf (names, "%s'%s' (input)", i > 0 ? ", " : "",
                            sl_graph_declared_input_tensor (graph, i)->name);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    g_string_append_printf (names, ", '%s' (output)", sl_graph_output_tensor (graph, i)->name);
  return sl_fail (error, SL_ERROR_CONTRACT, "%s: [%s]: the model has no %s of that name; it has %s",
                  info->path, group->name,
                  group->dir == SL_INFO_INPUT    ? "input"
                  : group->dir == SL_INFO_OUTPUT ? "output"
                                                 : "input or output",
                  names->str);
}

static gboolean
dims_match (const SlInfoTensor *stated, const SlTensor *tensor)
{
  if (stated->rank != tensor->rank)
    return FALSE;
  for (guint i = 0; i < stated->rank; i++)
    if (stated->dims[i] != -1 && stated->dims[i] != tensor->dims[i])
      return FALSE;
  return TRUE;
}

/* The place of @group among those of its direction. */
static guint
place_of (const SlModelInfo *info, const SlInfoTensor *group)
{
  guint place = 0;
  for (guint i = 0; &g_array_index (info->tensors, SlInfoTensor, i) != group; i++)
    place += g_array_index (info->tensors, SlInfoTensor, i).dir == group->dir;
  return place;
}

/* (nullable): the tensor that @group is of though it has another name. */
static const SlTensor *
find_alike (const SlModelInfo *info, const SlInfoTensor *group, const SlGraph *graph)
{
  if (group->dir == SL_INFO_ANY || group->dtype == SL_DTYPE_INVALID || group->rank == 0)
    return NULL;
  const gboolean input = group->dir == SL_INFO_INPUT;
  const guint n = input ? sl_graph_n_inputs (graph) : sl_graph_n_outputs (graph),
              place = place_of (info, group);
  const SlTensor *found = NULL;
  guint alike = 0;
  for (guint i = 0; i < n; i++) {
    const SlTensor *tensor =
      input ? sl_graph_declared_input_tensor (graph, i) : sl_graph_output_tensor (graph, i);
    if (tensor->dtype != group->dtype || !dims_match (group, tensor)
        || sl_modelinfo_find (info, tensor->name) != NULL)
      continue;
    if (i == place)
      return tensor;
    found = tensor;
    alike++;
  }
  return alike == 1 ? found : NULL;
}

gboolean
sl_modelinfo_check (SlModelInfo *info, const SlGraph *graph, GError **error)
{
  for (guint i = 0; i < info->tensors->len; i++) {
    SlInfoTensor *stated = &g_array_index (info->tensors, SlInfoTensor, i);
    SlInfoDir dir;
    const SlTensor *tensor = find_edge (graph, stated, &dir);
    if (tensor == NULL && is_constant (graph, stated))
      continue;
    if (tensor == NULL && (tensor = find_alike (info, stated, graph)) != NULL)
      dir = stated->dir;
    if (tensor == NULL)
      return no_such_tensor (info, stated, graph, error);
    if (stated->dtype != SL_DTYPE_INVALID && stated->dtype != tensor->dtype)
      return sl_fail (error, SL_ERROR_CONTRACT,
                      "%s: [%s] type: it says %s, the model's tensor is %s", info->path,
                      stated->name, sl_dtype_name (stated->dtype), sl_dtype_name (tensor->dtype));
    if (stated->rank > 0 && !dims_match (stated, tensor)) {
      SlTensor as_stated = { .dtype = tensor->dtype, .rank = stated->rank };
      memcpy (as_stated.dims, stated->dims, sizeof as_stated.dims);
      g_autofree char *got = sl_tensor_describe (&as_stated),
                      *expected = sl_tensor_describe (tensor);
      return sl_fail (error, SL_ERROR_CONTRACT,
                      "%s: [%s] dims: it says %s, the model's tensor is %s", info->path,
                      stated->name, got, expected);
    }
    if (stated->n_ranges > 0 && dir == SL_INFO_OUTPUT)
      return sl_fail (error, SL_ERROR_CONTRACT,
                      "%s: [%s] ranges: it is an output; ranges are for inputs", info->path,
                      stated->name);
    if (strcmp (stated->name, tensor->name) != 0) {
      g_free (stated->name);
      stated->name = g_strdup (tensor->name);
    }
  }
  return TRUE;
}
