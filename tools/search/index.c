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

/* @object: (nullable): NULL = the whole picture */
static gboolean
add_part (SlSearchEncoder *encoder, const SlSearchPicture *picture, const SlNotesObject *object,
          gboolean own, GArray *parts, GError **error)
{
  const SlVectorPart part = { object != NULL ? object->label : NULL, own,
                              sl_search_encoder_run (encoder, picture,
                                                     object != NULL ? object->box : NULL, error) };
  if (part.numbers != NULL)
    g_array_append_val (parts, part);
  return part.numbers != NULL;
}

static gboolean
is_stopped (const gint *stop)
{
  return stop != NULL && g_atomic_int_get (stop) != 0;
}

static gboolean
make_parts (SlSearchEncoder *encoder, const SlSearchPicture *picture, const SlNotes *notes,
            const gint *stop, GArray *parts, GError **error)
{
  gboolean owned = FALSE;
  for (guint i = 0; i < notes->objects->len && !is_stopped (stop); i++) {
    const SlNotesObject *object = &g_array_index (notes->objects, SlNotesObject, i);
    const gboolean own = object->is_event && !owned;
    owned = owned || own;
    if (!add_part (encoder, picture, object, own, parts, error))
      return FALSE;
  }
  return is_stopped (stop) || add_part (encoder, picture, NULL, !owned, parts, error);
}

gboolean
sl_search_index_clip (SlSearchEncoder *encoder, SlStore *store, const SlVectorModel *model,
                      const char *stem, const gint *stop, guint *parts, GError **error)
{
  g_autoptr (GBytes) bytes =
    sl_clip_file_read (store->folder, stem, SL_CLIP_PICTURE, SL_PICTURE_BYTES, NULL);
  g_autoptr (SlSearchPicture) picture = bytes != NULL ? sl_search_picture_new (bytes, NULL) : NULL;
  g_autoptr (GArray) made = g_array_new (FALSE, FALSE, sizeof (SlVectorPart));
  g_auto (SlNotes) notes;
  g_array_set_clear_func (made, part_clear);
  sl_search_read_notes (store->folder, stem, &notes);
  if (picture != NULL && !make_parts (encoder, picture, &notes, stop, made, error))
    return FALSE;
  if (is_stopped (stop))
    return TRUE;
  if (parts != NULL)
    *parts = made->len;
  return sl_vectors_add (store, model, stem, made, error);
}
