/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SlVectorMeta: registration, and the three things a GstMeta does. */
#include "plugins/meta/vector_meta.h"

#include "plugins/meta/meta_type.h"

static void
vector_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  const SlVector *vector = &((SlVectorMeta *) meta)->vector;
  g_free ((gpointer) vector->values);
  g_free ((gpointer) vector->names);
  g_free ((gpointer) vector->units);
}

static gboolean
vector_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                       gpointer data)
{
  return GST_META_TRANSFORM_IS_COPY (type)
         && sl_buffer_add_vector_meta (dest, &((SlVectorMeta *) meta)->vector) != NULL;
}

SL_DEFINE_META (SlVectorMeta, sl_vector_meta, vector_meta_free, vector_meta_transform)

/* (transfer full) (nullable) */
static const char *const *
intern (const char *const *words, guint n)
{
  const char **interned = words != NULL ? g_new (const char *, n) : NULL;
  for (guint i = 0; i < n && words != NULL; i++)
    interned[i] = g_intern_string (words[i]);
  return interned;
}

SlVectorMeta *
sl_buffer_add_vector_meta (GstBuffer *buffer, const SlVector *vector)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer) && vector != NULL && vector->n > 0, NULL);
  SlVectorMeta *self =
    (SlVectorMeta *) gst_buffer_add_meta (buffer, sl_vector_meta_get_info (), NULL);
  if (self == NULL)
    return NULL;
  self->vector =
    (SlVector){ .n = vector->n,
                .values = g_memdup2 (vector->values, vector->n * sizeof *vector->values),
                .is_embedding = vector->is_embedding,
                .names = intern (vector->names, vector->n),
                .units = intern (vector->units, vector->n) };
  return self;
}

const SlVector *
sl_buffer_get_vector (GstBuffer *buffer)
{
  const SlVectorMeta *meta =
    (const SlVectorMeta *) gst_buffer_get_meta (buffer, sl_vector_meta_api_get_type ());
  return meta != NULL ? &meta->vector : NULL;
}
