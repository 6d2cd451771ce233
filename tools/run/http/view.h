/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One way to show a channel's frames: with predictions drawn or without, at one width. The newest
 * picture is kept. The server's thread.
 */
#pragma once

#include "plugins/record/picture.h"
#include "tools/run/http/feed.h"

/** What parts of a stream of pictures are separated by. */
#define SL_VIEW_BOUNDARY "frame"

/**
 * SlView:
 * @drawn: with predictions
 * @width: pixels in a row at most
 * @jpeg, @part: (nullable): the newest picture, and the same as a part of a stream
 * @serial: of that picture, from 1
 * @wanted: monotonic microseconds, when a frame was last asked for it
 */
typedef struct
{
  gboolean drawn;
  guint width;
  SlPictureMaker *maker;
  GBytes *jpeg, *part;
  guint64 serial;
  gint64 wanted;
} SlView;

SlView *sl_view_new (gboolean drawn, guint width);
void sl_view_free (SlView *view);
/** sl_view_make: makes the picture of @frame. FALSE with @error set; the next one begins anew. */
gboolean sl_view_make (SlView *view, const SlFeedFrame *frame, GError **error);
/** sl_view_rest: frees what only making pictures needs. */
void sl_view_rest (SlView *view);
