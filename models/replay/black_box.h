/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of a black box: the inputs and outputs of a series of inferences. Version 1, little endian:
 *
 *   file      "SLBBOX\r\n", u32 version, u32 sections, u64 bytes of the file, u64 XXH64 of these 24
 *             bytes
 *   section   4 letters, u32 0, u64 bytes of the content, u64 XXH64 of the content, seeded with the
 *             XXH64 of these 16 bytes; the content
 *   "INFO"    the first section: a key file (models/replay/info.h)
 *   "INFR"    an inference: u64 number, u64 PTS, i64 time, u32 1 when finished, u32 0; for each
 *             output u64 XXH64 and u64 bytes that are stored
 *             of it, all or none; the inputs; the outputs that are stored; all of the sizes that
 *             "INFO" gives them
 */
#pragma once

#include "models/replay/info.h"

#define SL_BLACK_BOX_VERSION 1
/** Outputs of at most so many bytes are stored beside their hash when a running model is recorded.
 */
#define SL_BLACK_BOX_SMALL ((gsize) 65536)
/** Bytes of a file that is read, at most. */
#define SL_BLACK_BOX_LARGEST ((gsize) 1 << 31)

/**
 * SlBlackBoxInference:
 * @number: from 1, in the order in which the model ran
 * @pts: nanoseconds; G_MAXUINT64 = none
 * @time: when it began; microseconds since 1970
 * @finished: FALSE for what was under way when recording ended: outputs are unknown then
 * @inputs, @outputs: bytes, as long as the info says; an output is NULL where only its hash was
 * kept
 */
typedef struct
{
  guint64 number, pts;
  gint64 time;
  gboolean finished;
  guint64 hashes[SL_MAX_IO];
  const void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
} SlBlackBoxInference;

typedef struct _SlBlackBox SlBlackBox;

/** sl_black_box_new: (transfer full): of the bytes of a file, which is checked whole: NULL with
 * SL_ERROR_FORMAT, SL_ERROR_UNSUPPORTED (of another version) or SL_ERROR_LIMIT. */
SlBlackBox *sl_black_box_new (GBytes *bytes, GError **error);
/** sl_black_box_open: (transfer full): likewise of the file @path, with which messages begin;
 * SL_ERROR_OPEN when it cannot be read. */
SlBlackBox *sl_black_box_open (const char *path, GError **error);
void sl_black_box_free (SlBlackBox *box);
const SlBlackBoxInfo *sl_black_box_info (const SlBlackBox *box);
guint sl_black_box_n_inferences (const SlBlackBox *box);
/** sl_black_box_inference: the @i-th, whose pointers are valid until @box is freed, and aligned to
 * nothing. */
void sl_black_box_inference (const SlBlackBox *box, guint i, SlBlackBoxInference *inference);

typedef struct _SlBlackBoxWriter SlBlackBoxWriter;

/** sl_black_box_writer_new: (transfer full): begins PATH.part; NULL with SL_ERROR_OPEN when that
 * cannot be written or is there. @info: (transfer none): must outlive the writer. */
SlBlackBoxWriter *sl_black_box_writer_new (const char *path, const SlBlackBoxInfo *info,
                                           GError **error);
gboolean sl_black_box_writer_add (SlBlackBoxWriter *writer, const SlBlackBoxInference *inference,
                                  GError **error);
/** sl_black_box_writer_finish: the whole file, on the disk, gets the name PATH; what had it is
 * replaced. */
gboolean sl_black_box_writer_finish (SlBlackBoxWriter *writer, GError **error);
/** sl_black_box_writer_free: a file that was not finished goes. NULL is legal. */
void sl_black_box_writer_free (SlBlackBoxWriter *writer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlBlackBox, sl_black_box_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlBlackBoxWriter, sl_black_box_writer_free)
