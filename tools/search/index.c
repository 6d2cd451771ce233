/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/search/index.h"

#include "tools/run/events/colors.h"
#include "tools/run/events/folder.h"

void
sl_search_read_notes (const char *folder, const char *stem, SlNotes *notes)
{
  g_autoptr (GBytes) json = sl_clip_file_read (folder, stem, SL_CLIP_NOTES, SL_NOTES_BYTES, NULL);
  sl_notes_init (notes);
  if (json != NULL)
    sl_notes_read (notes, g_bytes_get_data (json, NULL), g_bytes_get_size (json), NULL);
}

static void
part_clear (gpointer part)
{
  g_free ((gpointer) ((SlVectorPart *) part)->numbers);
}

/* @object: (nullable): NULL = the whole picture. @why: (inout): the first reason why a part has
 * none */
static void
add_part (SlSearchEncoder *encoder, const SlSearchPicture *picture, const SlNotesObject *object,
          gboolean own, GArray *parts, GError **why)
{
  g_autoptr (GError) reason = NULL;
  const SlVectorPart part = { object != NULL ? object->label : NULL, own,
                              sl_search_encoder_run (
                                encoder, picture, object != NULL ? object->box : NULL, &reason) };
  if (part.numbers != NULL)
    g_array_append_val (parts, part);
  else if (*why == NULL)
    *why = g_steal_pointer (&reason);
}

static gboolean
is_stopped (const gint *stop)
{
  return stop != NULL && g_atomic_int_get (stop) != 0;
}

static void
make_parts (SlSearchEncoder *encoder, const SlSearchPicture *picture, const SlNotes *notes,
            const gint *stop, GArray *parts, GError **why)
{
  gboolean owned = FALSE;
  for (guint i = 0; i < notes->objects->len && !is_stopped (stop); i++) {
    const SlNotesObject *object = &g_array_index (notes->objects, SlNotesObject, i);
    const gboolean own = object->is_event && !owned;
    owned = owned || own;
    add_part (encoder, picture, object, own, parts, why);
  }
  if (!is_stopped (stop))
    add_part (encoder, picture, NULL, !owned, parts, why);
}

gboolean
sl_search_index_clip (SlSearchEncoder *encoder, SlStore *store, const SlVectorModel *model,
                      const char *stem, const gint *stop, guint *parts, char **why, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autoptr (GBytes) bytes =
    sl_clip_file_read (store->folder, stem, SL_CLIP_PICTURE, SL_PICTURE_BYTES, &reason);
  g_autoptr (SlSearchPicture) picture =
    bytes != NULL ? sl_search_picture_new (bytes, &reason) : NULL;
  g_autoptr (GArray) made = g_array_new (FALSE, FALSE, sizeof (SlVectorPart));
  g_auto (SlNotes) notes;
  g_array_set_clear_func (made, part_clear);
  sl_search_read_notes (store->folder, stem, &notes);
  if (picture != NULL)
    make_parts (encoder, picture, &notes, stop, made, &reason);
  if (is_stopped (stop))
    return TRUE;
  if (!sl_vectors_add (store, model, stem, made, error))
    return FALSE;
  *parts = made->len;
  *why = reason != NULL ? g_strdup (reason->message) : NULL;
  return TRUE;
}
