/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads frame_num of H.264. Each reference picture increments it, so that a missing reference
 * picture is detected.
 */
#pragma once

#include "plugins/camera/bits.h"

#define SL_H264_SPS 32
#define SL_H264_PPS 256

/** SlFrameNumbers: what parameter sets say of them. @bits: of a number, 0 = not known, or gaps mean
 * nothing; @sps: of each PPS */
typedef struct
{
  guint8 bits[SL_H264_SPS];
  gboolean planes[SL_H264_SPS];
  guint8 sps[SL_H264_PPS];
} SlFrameNumbers;

/** sl_frame_numbers_sps: a sequence parameter set, @payload behind the unit's header. */
void sl_frame_numbers_sps (SlFrameNumbers *numbers, const guint8 *payload, gsize n);
/** sl_frame_numbers_pps: the same of a picture parameter set. */
void sl_frame_numbers_pps (SlFrameNumbers *numbers, const guint8 *payload, gsize n);
/** sl_frame_numbers_slice: the number of a picture, of a slice header behind slice_type; -1 = not
 * known. @modulus: (out): what it counts up to */
gint sl_frame_numbers_slice (const SlFrameNumbers *numbers, SlBits *slice, guint *modulus);
