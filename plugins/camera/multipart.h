/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of a multipart stream (RFC 2046, section 5.1, as cameras send
 * multipart/x-mixed-replace), cut out as their bytes come. What is held never exceeds a bound,
 * whatever comes.
 */
#pragma once

#include <glib.h>

/** Bytes of a part's header, and before the first boundary. */
#define SL_CAMERA_PART_HEADER (64 * 1024)
/** Parts in a row that hold no JPEG picture. */
#define SL_CAMERA_EMPTY_PARTS 100

typedef struct _SlCameraParts SlCameraParts;

/** SlCameraPart: called with each part in which a JPEG picture begins; @stamp: that of the bytes
 * with which it began. */
typedef void (*SlCameraPart) (GBytes *part, guint64 stamp, gpointer data);

/** sl_camera_parts_new: @max_bytes: most bytes a part may have. */
SlCameraParts *sl_camera_parts_new (gsize max_bytes, SlCameraPart take, gpointer data);
void sl_camera_parts_free (SlCameraParts *parts);
/**
 * sl_camera_parts_push:
 * @bytes: the @n bytes that follow those pushed before
 * @stamp: when they came, in any unit
 * @error: SL_ERROR_LIMIT or SL_ERROR_FORMAT: what was expected, what came, and the property that
 * raises the bound
 *
 * The boundary is the stream's own first line that begins with "--", since cameras announce others.
 * A part ends at the boundary, or after Content-Length bytes where that comes first, so that a
 * picture does not wait for the next. A Content-Length that is 0 or not a number is ignored.
 *
 * Returns: FALSE when a bound is exceeded; nothing may be pushed then.
 */
gboolean sl_camera_parts_push (SlCameraParts *parts, const guint8 *bytes, gsize n, guint64 stamp,
                               GError **error);
