/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Registration of metas whose code is in more than one plugin file of Sightline. The first file
 * registers the meta, the others find it. All files have the same version, so the structs are
 * equal.
 */
#pragma once

#include <gst/gst.h>

/** sl_meta_api_type: the API type called @name, without tags. @type: where the caller keeps it, 0
 * at first. Any thread. */
GType sl_meta_api_type (GType *type, const char *name);
/** sl_meta_info: what is registered as @name, by these functions when nobody was first. @info:
 * where the caller keeps it, NULL at first. Any thread. */
const GstMetaInfo *sl_meta_info (const GstMetaInfo **info, GType api, const char *name, gsize size,
                                 GstMetaInitFunction init, GstMetaFreeFunction clear,
                                 GstMetaTransformFunction transform);
/** sl_meta_zero: for sl_meta_info(): fills a new meta behind its GstMeta with zeros. */
gboolean sl_meta_zero (GstMeta *meta, gpointer params, GstBuffer *buffer);

/** SL_DEFINE_META: defines prefix_api_get_type() and prefix_get_info() of the meta @Type, a struct
 * that begins with a GstMeta and is zero at first. @clear, @transform: as for sl_meta_info(). */
#define SL_DEFINE_META(Type, prefix, clear, transform)                                        \
  GType prefix##_api_get_type (void)                                                          \
  {                                                                                           \
    static GType type = 0;                                                                    \
    return sl_meta_api_type (&type, #Type "API");                                             \
  }                                                                                           \
                                                                                              \
  const GstMetaInfo *prefix##_get_info (void)                                                 \
  {                                                                                           \
    static const GstMetaInfo *info = NULL;                                                    \
    return sl_meta_info (&info, prefix##_api_get_type (), #Type, sizeof (Type), sl_meta_zero, \
                         clear, transform);                                                   \
  }
