/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Where tracked objects were in the last minutes, so that regions that are still being drawn can be
 * counted as if they had been there. Memory is bounded. One thread at a time.
 */
#pragma once

#include "postprocess/analyze/analyzer.h"

/** Most boxes that are kept, of all frames together; the oldest frames go first. */
#define SL_TRACKS_MOST 262144

typedef struct _SlTracks SlTracks;

/** sl_tracks_new: keeps @seconds of frames. */
SlTracks *sl_tracks_new (guint seconds);
/** sl_tracks_free: NULL is legal. */
void sl_tracks_free (SlTracks *tracks);
/** sl_tracks_copy: (transfer full): what is known now. The boxes are shared, not copied. */
SlTracks *sl_tracks_copy (const SlTracks *tracks);
/** sl_tracks_add: the arguments of sl_analyzer_update() and sl_analyzer_set_size(). At most 5
 * frames a second are kept. A jump back in time or another size begins anew. */
void sl_tracks_add (SlTracks *tracks, const SlObjectView *objects, guint n, guint64 time,
                    gint width, gint height);
/** sl_tracks_clear: forgets everything. */
void sl_tracks_clear (SlTracks *tracks);
/** sl_tracks_seconds: between the first and the last frame. */
gdouble sl_tracks_seconds (const SlTracks *tracks);
/** sl_tracks_replay: (transfer full): an analyzer with @regions (transfer full) that has seen what
 * is kept. Where frames are left out, an object is confirmed by as much time as in all frames. */
SlAnalyzer *sl_tracks_replay (const SlTracks *tracks, SlRegions *regions,
                              const SlAnalyzerSettings *settings);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlTracks, sl_tracks_free)
