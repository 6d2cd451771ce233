/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SlOutputsMeta: registration, and the three things a GstMeta does. */
#include "plugins/meta/outputs_meta.h"

#include "plugins/meta/meta_type.h"

/* A copy of tensors, as an rc box. */
typedef struct
{
  guint n;
  SlTensorInfo infos[SL_MAX_IO];
  const void *data[SL_MAX_IO];
} Shared;

static void
clear_shared (gpointer data)
{
  Shared *shared = data;
  sl_tensor_infos_clear (shared->infos, shared->n);
  for (guint i = 0; i < shared->n; i++)
    g_free ((gpointer) shared->data[i]);
}

static void
outputs_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  SlOutputsMeta *self = (SlOutputsMeta *) meta;
  if (self->shared != NULL)
    g_atomic_rc_box_release_full (self->shared, clear_shared);
}

/* Takes @shared. */
static SlOutputsMeta *
add (GstBuffer *buffer, Shared *shared)
{
  SlOutputsMeta *self =
    (SlOutputsMeta *) gst_buffer_add_meta (buffer, sl_outputs_meta_get_info (), NULL);
  if (self == NULL) {
    g_atomic_rc_box_release_full (shared, clear_shared);
    return NULL;
  }
  self->shared = shared;
  self->outputs = (SlOutputs){ shared->n, shared->infos, shared->data };
  return self;
}

static gboolean
outputs_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                        gpointer data)
{
  return GST_META_TRANSFORM_IS_COPY (type)
         && add (dest, g_atomic_rc_box_acquire (((SlOutputsMeta *) meta)->shared)) != NULL;
}

SL_DEFINE_META (SlOutputsMeta, sl_outputs_meta, outputs_meta_free, outputs_meta_transform)

SlOutputsMeta *
sl_buffer_add_outputs_meta (GstBuffer *buffer, const SlOutputs *outputs)
{
  g_return_val_if_fail (
    GST_IS_BUFFER (buffer) && outputs != NULL && outputs->n > 0 && outputs->n <= SL_MAX_IO, NULL);
  Shared *shared = g_atomic_rc_box_new0 (Shared);
  shared->n = outputs->n;
  for (guint i = 0; i < outputs->n; i++) {
    shared->infos[i] = outputs->infos[i];
    shared->infos[i].name = g_strdup (outputs->infos[i].name);
    shared->data[i] = g_memdup2 (outputs->data[i], outputs->infos[i].bytes);
  }
  return add (buffer, shared);
}

const SlOutputs *
sl_buffer_get_outputs (GstBuffer *buffer)
{
  const SlOutputsMeta *meta =
    (const SlOutputsMeta *) gst_buffer_get_meta (buffer, sl_outputs_meta_api_get_type ());
  return meta != NULL ? &meta->outputs : NULL;
}
