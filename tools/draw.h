/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames with predictions on them -> PNG files with the predictions drawn.
 */
#ifndef SL_TOOLS_DRAW_H
#define SL_TOOLS_DRAW_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _SlDrawer SlDrawer;

/** sl_drawer_check: whether pictures can be written to @path, as far as its name tells. */
gboolean sl_drawer_check (const char *path, GError **error);
/** sl_drawer_new: the first frame is written to @path, others to @path with -2, -3, ... before its extension. */
SlDrawer *sl_drawer_new (const char *path, GError **error);
void sl_drawer_free (SlDrawer *drawer);
/** sl_drawer_write: draws what rides on @frame. FALSE with @error set. */
gboolean sl_drawer_write (SlDrawer *drawer, GstSample *frame, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlDrawer, sl_drawer_free)

G_END_DECLS

#endif
