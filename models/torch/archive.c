/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the archive's folder and its members. Elements of tensors stay where they are in the file;
 * members that are packed or lie at an odd place are copied once, and copies are counted.
 */
#include "models/torch/archive.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/name_hash.h"
#include "core/graph/constants.h"
#include "models/reader.h"
#include "models/zip.h"

/* What a file of that size may have unpacked of its elements. */
#define UNPACKED_FOR_EACH_BYTE 4
#define UNPACKED_ALLOWANCE ((gsize) 64 << 10)
/* Bytes that checksums are made of, for each of the file: members that lie in each other have more.
 */
#define CHECKED_FOR_EACH_BYTE 2
#define MODULE "data.pkl"

struct _TsArchive
{
  SlZip *zip;
  char *folder; /* with a slash at its end */
  SlGraph *graph;
  GHashTable *copies;        /* name of a member -> Copy * */
  gsize budget, *may_unpack; /* @budget, or that of the archive around this one */
  gboolean copies_all;       /* elements do not stay where they are */
  gboolean checks;           /* the checksums of stored members, too */
  gsize may_check;
  GHashTable *checked; /* places of members */
  const char *extra;   /* (nullable): folder of the files that the author added */
  GPtrArray *extras;   /* of their names, the archive's */
};

typedef struct
{
  gsize size;
  const void *bytes;
} Copy;

/* (nullable): the folder in which @member lies: "NAME/" of "NAME/data.pkl". */
static char *
find_folder (const SlZip *zip, const char *member)
{
  for (guint i = 0; i < sl_zip_count (zip); i++) {
    const char *name = sl_zip_name (zip, i), *slash = strchr (name, '/');
    if (slash != NULL && strcmp (slash + 1, member) == 0)
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
    if (g_str_has_suffix (name, "/model.json"))
      what =
        "TorchScript of PyTorch before 1.4; load it in such a version and export it with a later "
        "one";
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
    "a PyTorch file without a program: a pickled Python module, or weights alone (state_dict); "
    "load it in Python, then " SL_EXPORT_TORCH);
  return FALSE;
}

/* An archive without its folder. */
static TsArchive *
open_zip (GBytes *bytes, SlGraph *graph, GError **error)
{
  g_autoptr (TsArchive) archive = g_new0 (TsArchive, 1);
  GError *cause = NULL;
  archive->copies = g_hash_table_new_full (sl_name_hash, g_str_equal, g_free, g_free);
  archive->extras = g_ptr_array_new ();
  archive->checked = g_hash_table_new (NULL, NULL);
  archive->may_check = CHECKED_FOR_EACH_BYTE * g_bytes_get_size (bytes);
  archive->graph = graph;
  archive->budget = UNPACKED_FOR_EACH_BYTE * g_bytes_get_size (bytes) + UNPACKED_ALLOWANCE;
  archive->may_unpack = &archive->budget;
  archive->zip = sl_zip_open (bytes, &cause);
  if (archive->zip != NULL)
    return g_steal_pointer (&archive);
  if (cause == NULL)
    g_set_error (&cause, SL_ERROR, SL_ERROR_FORMAT,
                 "the zip archive has no directory at its end: the file is damaged or truncated");
  g_propagate_error (error, cause);
  return NULL;
}

/* Notes the files that the author added, which lie in the folder @extra. */
static TsArchive *
with_extras (TsArchive *archive, const char *extra)
{
  archive->extra = extra;
  g_autofree char *path = g_strconcat (archive->folder, extra, NULL);
  for (guint i = 0; i < sl_zip_count (archive->zip); i++)
    if (g_str_has_prefix (sl_zip_name (archive->zip, i), path))
      g_ptr_array_add (archive->extras, (gpointer) (sl_zip_name (archive->zip, i) + strlen (path)));
  return archive;
}

TsArchive *
ts_archive_open (GBytes *bytes, SlGraph *graph, GError **error)
{
  g_autoptr (TsArchive) archive = open_zip (bytes, graph, error);
  if (archive == NULL)
    return NULL;
  archive->folder = find_folder (archive->zip, MODULE);
  if (archive->folder == NULL) {
    refuse_other (archive->zip, error);
    return NULL;
  }
  return check_kind (archive, error) ? with_extras (g_steal_pointer (&archive), "extra/") : NULL;
}

TsArchive *
ts_archive_open_saved (TsArchive *outer, GBytes *bytes, gboolean lasting, GError **error)
{
  g_autoptr (TsArchive) archive = open_zip (bytes, outer->graph, error);
  if (archive == NULL)
    return NULL;
  archive->copies_all = !lasting;
  archive->may_unpack = outer->may_unpack;
  archive->folder = find_folder (archive->zip, MODULE);
  if (archive->folder != NULL)
    return g_steal_pointer (&archive);
  g_set_error_literal (error, SL_ERROR, SL_ERROR_FORMAT,
                       "no data.pkl in it, as torch.save() writes it");
  return NULL;
}

TsArchive *
ts_archive_open_exported (GBytes *bytes, SlGraph *graph, GError **error)
{
  g_autoptr (TsArchive) archive = open_zip (bytes, graph, error);
  if (archive == NULL)
    return NULL;
  archive->checks = TRUE;
  if (sl_zip_find (archive->zip, TS_ARCHIVE_PROGRAM) >= 0) {
    archive->folder = g_strdup ("");
    return with_extras (g_steal_pointer (&archive), "extra_files/");
  }
  archive->folder = find_folder (archive->zip, TS_ARCHIVE_FORMAT);
  if (archive->folder != NULL)
    return with_extras (g_steal_pointer (&archive), "extra/");
  g_set_error_literal (
    error, SL_ERROR, SL_ERROR_FORMAT,
    "a zip archive of torch.export without its program: expected a member " TS_ARCHIVE_PROGRAM
    " (PyTorch up to 2.7) or NAME/" TS_ARCHIVE_FORMAT " (from 2.8 on)");
  return NULL;
}

void
ts_archive_free (TsArchive *archive)
{
  if (archive == NULL)
    return;
  sl_zip_free (archive->zip);
  g_ptr_array_unref (archive->extras);
  g_hash_table_unref (archive->copies);
  g_hash_table_unref (archive->checked);
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

static gboolean
may_copy (TsArchive *archive, gsize bytes, GError **error)
{
  if (bytes > *archive->may_unpack)
    return sl_fail (
      error, SL_ERROR_LIMIT,
      "the tensors of the archive are much larger when unpacked; save it again with torch");
  *archive->may_unpack -= bytes;
  return TRUE;
}

/* @size: of member @index, which is stored as it is. */
static gboolean
check_member (TsArchive *archive, gint index, gsize size, GError **error)
{
  if (!archive->checks || !g_hash_table_add (archive->checked, GINT_TO_POINTER (index)))
    return TRUE;
  if (size > archive->may_check)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "members of the archive lie in each other; save it again with torch");
  archive->may_check -= size;
  return sl_zip_check (archive->zip, (guint) index, error);
}

GBytes *
ts_archive_peek (TsArchive *archive, const char *name, gboolean *lasting, GError **error)
{
  gsize size = 0;
  const gint index = find (archive, name);
  const guint8 *bytes = index >= 0 ? sl_zip_peek (archive->zip, (guint) index, &size, NULL) : NULL;
  *lasting = bytes != NULL;
  if (bytes != NULL)
    return check_member (archive, index, size, error) ? g_bytes_new_static (bytes, size) : NULL;
  g_autoptr (GBytes) unpacked = ts_archive_read (archive, name, error);
  return unpacked != NULL && may_copy (archive, g_bytes_get_size (unpacked), error)
           ? g_steal_pointer (&unpacked)
           : NULL;
}

GBytes *
ts_archive_read_text (const TsArchive *archive, const char *name, GError **error)
{
  gsize size = 0;
  GBytes *bytes = ts_archive_read (archive, name, error);
  if (bytes == NULL)
    return NULL;
  char *text = g_bytes_unref_to_data (bytes, &size);
  text = g_realloc (text, size + 1);
  text[size] = '\0';
  return g_bytes_new_take (text, size + 1);
}

const char *
ts_archive_extra (const TsArchive *archive, guint i)
{
  return i < archive->extras->len ? g_ptr_array_index (archive->extras, i) : NULL;
}

GBytes *
ts_archive_read_extra (const TsArchive *archive, const char *name, GError **error)
{
  g_autofree char *member = g_strconcat (archive->extra, name, NULL);
  return ts_archive_read (archive, member, error);
}

const char *
ts_archive_member (const TsArchive *archive, guint i)
{
  const gsize length = strlen (archive->folder);
  const char *name = i < sl_zip_count (archive->zip) ? sl_zip_name (archive->zip, i) : NULL;
  return name == NULL || !g_str_has_prefix (name, archive->folder) ? name : name + length;
}

/* (nullable): a copy of an unpacked member in the graph's memory. */
static const void *
unpack_elements (TsArchive *archive, const char *name, gsize *size, GError **error)
{
  g_autoptr (GBytes) bytes = ts_archive_read (archive, name, error);
  if (bytes == NULL)
    return NULL;
  *size = g_bytes_get_size (bytes);
  if (!may_copy (archive, *size, error))
    return NULL;
  guint8 *padded = sl_tensor_alloc (sl_graph_arena (archive->graph), *size);
  if (*size > 0)
    memcpy (padded, g_bytes_get_data (bytes, NULL), *size);
  return padded;
}

/* @stored: (nullable): the bytes of the member where it is not packed and lasts as long as the
 * graph. */
static const void *
copy_elements (TsArchive *archive, const char *name, const guint8 *stored, gsize *size,
               GError **error)
{
  const Copy *known = g_hash_table_lookup (archive->copies, name);
  if (known == NULL) {
    Copy copy = { .size = *size };
    if (stored == NULL)
      copy.bytes = unpack_elements (archive, name, &copy.size, error);
    else if (may_copy (archive, copy.size, error))
      copy.bytes = sl_graph_copy_constant (archive->graph, stored, copy.size, error);
    if (copy.bytes == NULL)
      return NULL;
    known = g_memdup2 (&copy, sizeof copy);
    g_hash_table_insert (archive->copies, g_strdup (name), (gpointer) known);
  }
  *size = known->size;
  return known->bytes;
}

const void *
ts_archive_elements (TsArchive *archive, const char *folder, const char *key, gsize size,
                     gsize *length, GError **error)
{
  g_autofree char *name = g_strconcat (folder, "/", key, NULL);
  const gint index = find (archive, name);
  const guint8 *bytes = index >= 0 ? sl_zip_peek (archive->zip, (guint) index, length, NULL) : NULL;
  if (bytes != NULL && !check_member (archive, index, *length, error))
    return NULL;
  if (archive->copies_all)
    bytes = NULL;
  return bytes != NULL && (guintptr) bytes % size == 0
           ? bytes
           : copy_elements (archive, name, bytes, length, error);
}
