/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the archive's folder and its members. Elements of tensors stay where they are in the file;
 * members that are packed or lie at an odd place are copied once, and copies are counted.
 */
#include "models/torchscript/archive.h"

#include <string.h>

#include "core/base/name_hash.h"
#include "models/zip.h"

/* What a file of that size may have unpacked of its elements. */
#define UNPACKED_FOR_EACH_BYTE 4
#define UNPACKED_ALLOWANCE ((gsize) 64 << 10)
#define MODULE "data.pkl"
#define EXTRA "extra/"
#define EXPORT \
  "torch.jit.script(model.eval()).save('model.pt'), or torch.jit.trace(model.eval(), example).save('model.pt')"

struct _TsArchive
{
  SlZip *zip;
  char *folder; /* with a slash at its end */
  SlArena *arena;
  GHashTable *copies; /* name of a member -> Copy * */
  gsize may_unpack;
  GPtrArray *extras; /* of names, the archive's */
};

typedef struct
{
  gsize size;
  const void *bytes;
} Copy;

/* (nullable): the folder that the module's pickle lies in: "NAME/data.pkl". */
static char *
find_folder (const SlZip *zip)
{
  for (guint i = 0; i < sl_zip_count (zip); i++) {
    const char *name = sl_zip_name (zip, i), *slash = strchr (name, '/');
    if (slash != NULL && strcmp (slash + 1, MODULE) == 0)
      return g_strndup (name, (gsize) (slash + 1 - name));
  }
  return NULL;
}

static gint
find (const TsArchive *archive, const char *name)
{
  g_autofree char *path = g_strconcat (archive->folder, name, NULL);
  return sl_zip_find (archive->zip, path);
}

static gboolean
has_below (const TsArchive *archive, const char *name)
{
  g_autofree char *path = g_strconcat (archive->folder, name, NULL);
  for (guint i = 0; i < sl_zip_count (archive->zip); i++)
    if (g_str_has_prefix (sl_zip_name (archive->zip, i), path))
      return TRUE;
  return FALSE;
}

/* Archives without the pickle of a module. */
static void
refuse_other (const SlZip *zip, GError **error)
{
  const char *what = "no data.pkl in it, as torch.jit.save() writes it";
  for (guint i = 0; i < sl_zip_count (zip); i++) {
    const char *name = sl_zip_name (zip, i);
    if (g_str_has_suffix (name, "archive_format")
        || g_str_has_suffix (name, "serialized_exported_program.json"))
      what = "a program of torch.export (.pt2); export the model with " EXPORT
             ", or to ONNX with torch.onnx.export()";
    else if (g_str_has_suffix (name, "/model.json"))
      what =
        "TorchScript of PyTorch before 1.4; load it in such a version and export it with a later one";
  }
  g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED, "a zip archive of PyTorch's: %s", what);
}

/* torch.save() writes archives with a data.pkl, too. */
static gboolean
check_kind (const TsArchive *archive, GError **error)
{
  if (has_below (archive, "code/") && ts_archive_has (archive, "constants.pkl"))
    return TRUE;
  g_set_error (
    error, SL_ERROR, SL_ERROR_UNSUPPORTED,
    "a PyTorch file without a program: a pickled Python module, or weights alone (state_dict); load it in Python and export it with %s",
    EXPORT);
  return FALSE;
}

TsArchive *
ts_archive_open (GBytes *bytes, SlArena *arena, GError **error)
{
  g_autoptr (TsArchive) archive = g_new0 (TsArchive, 1);
  GError *cause = NULL;
  archive->copies = g_hash_table_new_full (sl_name_hash, g_str_equal, g_free, g_free);
  archive->extras = g_ptr_array_new ();
  archive->arena = arena;
  archive->may_unpack = UNPACKED_FOR_EACH_BYTE * g_bytes_get_size (bytes) + UNPACKED_ALLOWANCE;
  archive->zip = sl_zip_open (bytes, &cause);
  if (archive->zip == NULL) {
    if (cause == NULL)
      g_set_error (&cause, SL_ERROR, SL_ERROR_FORMAT,
                   "the zip archive has no directory at its end: the file is damaged or truncated");
    g_propagate_error (error, cause);
    return NULL;
  }
  archive->folder = find_folder (archive->zip);
  if (archive->folder == NULL) {
    refuse_other (archive->zip, error);
    return NULL;
  }
  if (!check_kind (archive, error))
    return NULL;
  g_autofree char *extra = g_strconcat (archive->folder, EXTRA, NULL);
  for (guint i = 0; i < sl_zip_count (archive->zip); i++)
    if (g_str_has_prefix (sl_zip_name (archive->zip, i), extra))
      g_ptr_array_add (archive->extras,
                       (gpointer) (sl_zip_name (archive->zip, i) + strlen (extra)));
  return g_steal_pointer (&archive);
}

void
ts_archive_free (TsArchive *archive)
{
  if (archive == NULL)
    return;
  sl_zip_free (archive->zip);
  g_ptr_array_unref (archive->extras);
  g_hash_table_unref (archive->copies);
  g_free (archive->folder);
  g_free (archive);
}

gboolean
ts_archive_has (const TsArchive *archive, const char *name)
{
  return find (archive, name) >= 0;
}

GBytes *
ts_archive_read (const TsArchive *archive, const char *name, GError **error)
{
  const gint index = find (archive, name);
  if (index >= 0)
    return sl_zip_read (archive->zip, (guint) index, error);
  g_set_error (error, SL_ERROR, SL_ERROR_FORMAT, "the archive has no member '%s%s'",
               archive->folder, name);
  return NULL;
}

const char *
ts_archive_extra (const TsArchive *archive, guint i)
{
  return i < archive->extras->len ? g_ptr_array_index (archive->extras, i) : NULL;
}

static const void *
copy_elements (TsArchive *archive, const char *name, gsize *length, GError **error)
{
  const Copy *known = g_hash_table_lookup (archive->copies, name);
  if (known == NULL) {
    g_autoptr (GBytes) bytes = ts_archive_read (archive, name, error);
    if (bytes == NULL)
      return NULL;
    Copy copy = { .size = g_bytes_get_size (bytes) };
    if (copy.size > archive->may_unpack) {
      g_set_error (
        error, SL_ERROR, SL_ERROR_LIMIT,
        "the tensors of the archive are much larger when unpacked; save it again with torch");
      return NULL;
    }
    archive->may_unpack -= copy.size;
    guint8 *padded = sl_arena_alloc (archive->arena, copy.size + SL_TENSOR_PADDING);
    if (copy.size > 0)
      memcpy (padded, g_bytes_get_data (bytes, NULL), copy.size);
    copy.bytes = padded;
    known = g_memdup2 (&copy, sizeof copy);
    g_hash_table_insert (archive->copies, g_strdup (name), (gpointer) known);
  }
  *length = known->size;
  return known->bytes;
}

const void *
ts_archive_elements (TsArchive *archive, const char *folder, const char *key, gsize size,
                     gsize *length, GError **error)
{
  g_autofree char *name = g_strconcat (folder, "/", key, NULL);
  const gint index = find (archive, name);
  const guint8 *bytes = index >= 0 ? sl_zip_peek (archive->zip, (guint) index, length, NULL) : NULL;
  if (bytes != NULL && (guintptr) bytes % size == 0)
    return bytes;
  return copy_elements (archive, name, length, error);
}
