/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Reading the codes that a model found: each is cut from the frame with a margin, turned upright, enlarged where it is small, and given to a
 * reader, in a few ways one after another.
 */
#ifndef SL_READ_REGIONS_H
#define SL_READ_REGIONS_H

#include "postprocess/read/gray.h"
#include "postprocess/read/scan.h"

G_BEGIN_DECLS

typedef struct _SlRegionReader SlRegionReader;

/** sl_region_reader_new: with all readers of this build, or with the one called @name (nullable); NULL where none opens. */
SlRegionReader *sl_region_reader_new (const char *name);
/** sl_region_reader_free: NULL is legal. */
void sl_region_reader_free (SlRegionReader *reader);
/** sl_region_reader_kinds: which kinds of codes an object called @label may be that can be read here, of SlReadKind; 0 = none. Of names that
 *  the finder in the box does not use, any. */
guint sl_region_reader_kinds (const SlRegionReader *reader, const char *label);
/** sl_region_reader_ready: which kinds of codes can be read now: a reader that does not answer rests for a while. */
guint sl_region_reader_ready (SlRegionReader *reader);
/** What reading says of whether an object is the code that it is called; @SL_READ_PROOF_FOREIGN: nothing, and it is another model's. */
typedef enum
{
  SL_READ_PROOF_FOREIGN,
  SL_READ_PROOF_NONE,
  SL_READ_PROOF_READS
} SlReadProof;
/** sl_region_reader_proof: what reads is a code, and what is large enough to be read, of a kind that can be read here, and is not is more often
 *  none. */
SlReadProof sl_region_reader_proof (const SlRegionReader *reader, const char *label);
/** sl_region_should_read: whether a code called @label, so many pixels of the frame wide and high, has enough of them to read as a rule. Not
 *  reading says nothing of smaller ones. */
gboolean sl_region_should_read (const char *label, double width, double height);
/** sl_region_reader_repeats: whether what was tried last, an object of @confidence, looks like itself moved aside, as calibration boards do and
 *  matrix codes do not. Of what the finder is very sure of, it has to look more so: dense codes that are blurred come near. */
gboolean sl_region_reader_repeats (const SlRegionReader *reader, double confidence);
/** sl_region_unread_slack: how much less confidence is enough for one called @label that does not read than for a matrix. */
double sl_region_unread_slack (const char *label);
/** sl_region_reader_set_objects: @boxes: of all objects of the frame, x0, y0, x1, y1 in pixels. Bars belong to the one that holds most of them. */
void sl_region_reader_set_objects (SlRegionReader *reader, const double (*boxes)[4], guint n);
/** sl_region_reader_wait: until the reader is done with what came before; FALSE where it is not at @deadline. */
gboolean sl_region_reader_wait (SlRegionReader *reader, gint64 deadline);
/**
 * sl_region_reader_read:
 * @luma: of the frame
 * @box: x0, y0, x1, y1 in pixels, around a code, inside of the frame
 * @kinds: what it may be
 * @deadline: until when, in the microseconds of g_get_monotonic_time()
 * @code: (out): what it says, its corners in pixels of the frame
 *
 * A code beside the box, in the margin that is looked at, is none of its. The same frame and box give the same answer, unless time ends before.
 */
SlScanResult sl_region_reader_read (SlRegionReader *reader, const SlLuma *luma, const double box[4], guint kinds, gint64 deadline,
                                    SlReadCode *code);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRegionReader, sl_region_reader_free)

G_END_DECLS

#endif
