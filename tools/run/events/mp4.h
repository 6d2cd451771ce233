/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Clips as browsers play them: fragmented MP4 with the bytes of H.264 as they were recorded. A clip
 * is converted into a file without a name, which goes with its last reader, and the last few are
 * kept. Any thread; each call waits for the disk.
 */
#pragma once

#include <glib.h>

/** Conversions at once, and clips that are kept. */
#define SL_MP4_MOST 4

/** SlMp4: @fd: of the whole file, for reading at any place */
typedef struct
{
  gint refs; /* atomic */
  gint fd;
  guint64 size;
} SlMp4;

typedef struct _SlMp4Cache SlMp4Cache;

SlMp4Cache *sl_mp4_cache_new (void);
void sl_mp4_cache_free (SlMp4Cache *cache);
/** sl_mp4_cache_stop: conversions end at once, and no other begins. */
void sl_mp4_cache_stop (SlMp4Cache *cache);
/** sl_mp4_cache_get: (transfer full): the clip @stem of @folder. NULL with @error set: of
 * SL_ERROR_BACKEND while SL_MP4_MOST are being converted. */
SlMp4 *sl_mp4_cache_get (SlMp4Cache *cache, const char *folder, const char *stem, GError **error);
/** sl_mp4_cache_tidy: forgets conversions of clips that are not there any more. */
void sl_mp4_cache_tidy (SlMp4Cache *cache);
/** sl_mp4_new_plain: (transfer full): a file as it is. @fd is taken. */
SlMp4 *sl_mp4_new_plain (gint fd, guint64 size);
void sl_mp4_unref (SlMp4 *mp4);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlMp4, sl_mp4_unref)
