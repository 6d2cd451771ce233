/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Reads the codes (bar codes, QR codes) that a model found. Each is cropped from the frame with a
 * margin, turned upright, enlarged where it is small, and passed to a reader. Several variants are
 * tried in order.
 */
#pragma once

#include "postprocess/read/gray.h"
#include "postprocess/read/scan.h"

typedef struct _SlRegionReader SlRegionReader;

/** sl_region_reader_new: uses all readers of this build, or only the reader @name (nullable). NULL
 * when no reader can be opened. */
SlRegionReader *sl_region_reader_new (const char *name);
/** sl_region_reader_free: NULL is legal. */
void sl_region_reader_free (SlRegionReader *reader);
/** sl_region_reader_kinds: the kinds of codes (bits of SlReadKind) that an object with @label may
 * be and that this build can read; 0 = no kind. For labels that the bundled code detector does not
 * use, all kinds. */
guint sl_region_reader_kinds (const SlRegionReader *reader, const char *label);
/** sl_region_reader_ready: the kinds of codes that can be read now. A reader that did not answer is
 * not used for a while. */
guint sl_region_reader_ready (SlRegionReader *reader);
/** Whether reading can confirm that an object is a code. @SL_READ_PROOF_FOREIGN: it cannot, and the
 * object is from another model. */
typedef enum
{
  SL_READ_PROOF_FOREIGN,
  SL_READ_PROOF_NONE,
  SL_READ_PROOF_READS
} SlReadProof;
/** sl_region_reader_proof: whether reading can confirm objects with @label. An object that can be
 * read is a code. An object that is large enough, of a kind that this build can read, but cannot be
 * read, is mostly not a code. */
SlReadProof sl_region_reader_proof (const SlRegionReader *reader, const char *label);
/** sl_region_should_read: whether a code with @label that is @width x @height pixels of the frame
 * is usually large enough to be read. A failed read of a smaller code proves nothing. */
gboolean sl_region_should_read (const char *label, double width, double height);
/** sl_region_reader_repeats: whether the picture of the last try repeats itself when it is shifted.
 * Calibration boards do, matrix codes do not.
 *  @confidence: of the object. For a very confident object the repetition has to be clearer, since
 * blurred dense codes come near. */
gboolean sl_region_reader_repeats (const SlRegionReader *reader, double confidence);
/** sl_region_unread_slack: how much lower the confidence of an unread object with @label may be
 * than that of a matrix code. */
double sl_region_unread_slack (const char *label);
/** sl_region_reader_set_objects: @boxes: the boxes of all objects of the frame, x0, y0, x1, y1 in
 * pixels. A bar code belongs to the box that contains most of its bars. */
void sl_region_reader_set_objects (SlRegionReader *reader, const double (*boxes)[4], guint n);
/** sl_region_reader_wait: waits until the reader has finished its earlier work. FALSE when it has
 * not at @deadline. */
gboolean sl_region_reader_wait (SlRegionReader *reader, gint64 deadline);
/**
 * sl_region_reader_read:
 * @luma: brightness of the frame
 * @box: x0, y0, x1, y1 in pixels, around a code, inside the frame
 * @kinds: the kinds of codes to try
 * @deadline: time limit, in microseconds of g_get_monotonic_time()
 * @code: (out): the code, its corners in pixels of the frame
 *
 * A code in the margin beside the box is not returned. The same frame and box give the same result,
 * unless the deadline comes before.
 */
SlScanResult sl_region_reader_read (SlRegionReader *reader, const SlLuma *luma, const double box[4],
                                    guint kinds, gint64 deadline, SlReadCode *code);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRegionReader, sl_region_reader_free)
