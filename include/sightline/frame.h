/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlFrame: a picture in memory, checked once when it is made, so that later readers need no check.
 * SlPredictor takes it, and an application pushes it into an SlPipeline.
 */
#ifndef SL_FRAME_H
#define SL_FRAME_H

#include <glib-object.h>

G_BEGIN_DECLS

#define SL_TYPE_FRAME (sl_frame_get_type ())

/**
 * SlFrame:
 *
 * A picture in memory: pixel format, size, planes. Its bytes are not copied. Immutable once it is
 * in use; references may be taken and dropped by any thread.
 *
 * Since: 0.1
 */
typedef struct _SlFrame SlFrame;

/**
 * SlFrameMatrix:
 * @SL_FRAME_MATRIX_AUTO: BT.601 up to 576 rows, else BT.709
 * @SL_FRAME_MATRIX_BT601: standard definition, JPEG
 * @SL_FRAME_MATRIX_BT709: high definition
 * @SL_FRAME_MATRIX_BT2020: ultra high definition
 *
 * How Y, U and V make R, G and B.
 *
 * Since: 0.1
 */
typedef enum
{
  SL_FRAME_MATRIX_AUTO,
  SL_FRAME_MATRIX_BT601,
  SL_FRAME_MATRIX_BT709,
  SL_FRAME_MATRIX_BT2020
} SlFrameMatrix;

GType sl_frame_get_type (void);

SlFrame *sl_frame_new (const char *format, guint width, guint height, GBytes *data, GError **error);
SlFrame *sl_frame_new_with_layout (const char *format, guint width, guint height, GBytes *data,
                                   const gsize *offsets, const gssize *strides, guint n_planes,
                                   GError **error);
SlFrame *sl_frame_new_for_planes (const char *format, guint width, guint height,
                                  const guint8 *const *planes, const gssize *strides,
                                  const gsize *sizes, guint n_planes, GError **error);
SlFrame *sl_frame_ref (SlFrame *frame);
void sl_frame_unref (SlFrame *frame);

void sl_frame_set_colorimetry (SlFrame *frame, SlFrameMatrix matrix, gboolean full_range);
void sl_frame_set_timestamp (SlFrame *frame, guint64 timestamp);

const char *sl_frame_get_format (const SlFrame *frame);
guint sl_frame_get_width (const SlFrame *frame);
guint sl_frame_get_height (const SlFrame *frame);
guint64 sl_frame_get_timestamp (const SlFrame *frame);
SlFrameMatrix sl_frame_get_matrix (const SlFrame *frame);
gboolean sl_frame_get_full_range (const SlFrame *frame);
guint sl_frame_get_n_planes (const SlFrame *frame);
const guint8 *sl_frame_get_plane (const SlFrame *frame, guint plane, gssize *stride,
                                  gsize *row_bytes, guint *rows);
GBytes *sl_frame_get_data (const SlFrame *frame);

char **sl_frame_dup_formats (void);
gsize sl_frame_packed_size (const char *format, guint width, guint height);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlFrame, sl_frame_unref)

G_END_DECLS

#endif
