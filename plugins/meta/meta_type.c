/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Look first, then register. Called by the files of metas. */
#include "plugins/meta/meta_type.h"

#include <string.h>

GType
sl_meta_api_type (GType *type, const char *name)
{
  static const gchar *tags[] = { NULL };
  if (g_once_init_enter (type)) {
    const GType known = g_type_from_name (name);
    g_once_init_leave (type, known != 0 ? known : gst_meta_api_type_register (name, tags));
  }
  return *type;
}

const GstMetaInfo *
sl_meta_info (const GstMetaInfo **info, GType api, const char *name, gsize size,
              GstMetaInitFunction init, GstMetaFreeFunction clear,
              GstMetaTransformFunction transform)
{
  if (g_once_init_enter ((GstMetaInfo **) info)) {
    const GstMetaInfo *known = gst_meta_get_info (name);
    if (known == NULL)
      known = gst_meta_register (api, name, size, init, clear, transform);
    g_once_init_leave ((GstMetaInfo **) info, (GstMetaInfo *) known);
  }
  return *info;
}

gboolean
sl_meta_zero (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  memset (meta + 1, 0, meta->info->size - sizeof *meta);
  return TRUE;
}
