/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Golden files: a fixed input, and the comparison of the outputs with the recorded ones. */
#include "models/replay/golden.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "core/base/half.h"
#include "core/base/printable.h"
#include "core/base/xxh64.h"
#include "models/replay/replay.h"
#include "core/base/fail.h"

#define MAKE "sightline check --make-golden"

char *
sl_golden_path (const SlModel *model)
{
  return g_strconcat (sl_model_path (model), ".golden", NULL);
}

/* Byte @i of a picture of noise. */
static guint8
noise (gsize i)
{
  const guint64 number = GUINT64_TO_LE (i);
  return (guint8) sl_xxh64 (&number, sizeof number, 0);
}

/* What a picture whose byte @i is noise becomes, as the contract has it; 0..1 where the input is no
 * picture. */
static gfloat
real (const SlImageContract *image, gsize i)
{
  if (!image->valid || !image->range_known)
    return noise (i) / 255.0f;
  const gsize channels = (gsize) image->channels,
              area = (gsize) image->width * (gsize) image->height;
  const gsize channel = (image->layout == SL_LAYOUT_NHWC ? i : i / area) % channels;
  return (gfloat) (noise (i) * image->gain[channel] + image->offset[channel]);
}

static void
fill (void *data, const SlTensorInfo *tensor, const SlImageContract *image)
{
  const gsize size = sl_dtype_size (tensor->dtype), n = tensor->bytes / size;
  guint8 *bytes = data;
  memset (data, 0, tensor->bytes);
  for (gsize i = 0; i < n; i++) {
    if (tensor->dtype == SL_DTYPE_F32)
      ((gfloat *) data)[i] = real (image, i);
    else if (tensor->dtype == SL_DTYPE_F16)
      ((guint16 *) data)[i] = sl_half_from_float (real (image, i));
    else if (tensor->dtype == SL_DTYPE_F64)
      ((gdouble *) data)[i] = (gdouble) real (image, i);
    else if (size == 1 && tensor->dtype != SL_DTYPE_BOOL)
      bytes[i] = noise (i);
    else
      bytes[i * size + (G_BYTE_ORDER == G_LITTLE_ENDIAN ? 0 : size - 1)] =
        noise (i) & 1; /* indices and the like stay small */
  }
}

static gboolean
run (SlModel *model, SlSession *session, SlReplayBuffers *buffers, GError **error)
{
  const SlStatus status = sl_replay_buffers_run (buffers, session);
  if (status != SL_STATUS_OK)
    sl_fail (error, SL_ERROR_BACKEND, "%s: %s", sl_model_path (model),
             sl_session_status_text (session, status));
  sl_session_reset (session);
  return status == SL_STATUS_OK;
}

static gboolean
write_file (const char *path, const SlBlackBoxInfo *info, const SlReplayBuffers *buffers,
            GError **error)
{
  SlBlackBoxInference inference = {
    .number = 1, .pts = G_MAXUINT64, .time = info->created, .finished = TRUE
  };
  for (guint i = 0; i < info->n_inputs; i++)
    inference.inputs[i] = buffers->inputs[i];
  for (guint i = 0; i < info->n_outputs; i++) {
    inference.outputs[i] = buffers->outputs[i];
    inference.hashes[i] = sl_xxh64 (buffers->outputs[i], info->outputs[i].bytes, 0);
  }
  g_autoptr (SlBlackBoxWriter) writer = sl_black_box_writer_new (path, info, error);
  return writer != NULL && sl_black_box_writer_add (writer, &inference, error)
         && sl_black_box_writer_finish (writer, error);
}

gboolean
sl_golden_make (SlModel *model, SlSession *session, const char *input_shape, GError **error)
{
  const SlContract *contract = sl_model_contract (model);
  g_auto (SlReplayBuffers) buffers = { 0 };
  g_autofree char *path = sl_golden_path (model);
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_new (model, session, input_shape, error);
  if (info == NULL || !sl_replay_buffers_init (&buffers, info, error))
    return FALSE;
  info->reason = g_strdup ("self-test");
  info->created = g_get_real_time ();
  const SlImageContract none = { 0 };
  for (guint i = 0; i < info->n_inputs; i++)
    fill (buffers.inputs[i], &info->inputs[i], i == 0 ? &contract->image : &none);
  /* Left by a process that was killed. The file holds noise, so it may be read by all who may read
   * the model. */
  g_autofree char *part = g_strconcat (path, ".part", NULL);
  g_unlink (part);
  if (!run (model, session, &buffers, error) || !write_file (path, info, &buffers, error))
    return FALSE;
  g_chmod (path, 0644);
  return TRUE;
}

static gboolean
refuse (const SlBlackBoxInfo *info, const SlSession *session, guint output,
        const SlReplayDifference *difference, GError **error)
{
  g_autofree char *here = sl_black_box_backends (session),
                  *there = sl_printable (info->backends, SL_PRINTABLE_NAME);
  return sl_fail (
    error, SL_ERROR_BACKEND,
    "this machine computes the model differently: value %" G_GSIZE_FORMAT
    " of output %u of the self-test: expected %.9g, got %.9g "
    "(%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
    " values differ; expected of %s, got of %s): test its memory and processor; "
    "SIGHTLINE_CPU=c tells whether its vector instructions are to blame; where the model is known "
    "to be right here, make the file anew with " MAKE,
    difference->place, output, difference->expected, difference->got, difference->differing,
    difference->elements, there, here);
}

static gboolean
compare (const SlBlackBox *box, SlModel *model, SlSession *session, GError **error)
{
  const SlBlackBoxInfo *info = sl_black_box_info (box);
  g_auto (SlReplayBuffers) buffers = { 0 };
  SlBlackBoxInference golden = { 0 };
  if (sl_black_box_n_inferences (box) > 0)
    sl_black_box_inference (box, 0, &golden);
  for (guint i = 0; i < info->n_outputs; i++)
    if (golden.outputs[i] == NULL)
      return sl_fail (
        error, SL_ERROR_FORMAT,
        "expected an inference with all its outputs, got a black box without: make the file "
        "with " MAKE);
  if (!sl_replay_buffers_init (&buffers, info, error))
    return FALSE;
  for (guint i = 0; i < info->n_inputs; i++)
    memcpy (buffers.inputs[i], golden.inputs[i], info->inputs[i].bytes);
  if (!run (model, session, &buffers, error))
    return FALSE;
  for (guint i = 0; i < info->n_outputs; i++) {
    static const SlReplayTolerance tolerance = { SL_GOLDEN_OF_VALUE, SL_GOLDEN_OF_RANGE };
    SlReplayDifference difference;
    const SlDtype dtype = info->outputs[i].dtype;
    const gboolean exact = dtype != SL_DTYPE_F32 && dtype != SL_DTYPE_F16 && dtype != SL_DTYPE_F64;
    sl_replay_compare (&info->outputs[i], golden.outputs[i], buffers.outputs[i],
                       exact ? NULL : &tolerance, &difference);
    if (difference.differing > 0)
      return refuse (info, session, i, &difference, error);
  }
  return TRUE;
}

gboolean
sl_golden_check (SlModel *model, SlSession *session, GError **error)
{
  g_autofree char *path = sl_golden_path (model);
  GStatBuf info; /* of a link, too, that leads nowhere */
  if (g_lstat (path, &info) != 0 && errno == ENOENT)
    return TRUE;
  g_autoptr (SlBlackBox) box = sl_black_box_open (path, error);
  if (box == NULL)
    return FALSE;
  if (!sl_black_box_check_model (sl_black_box_info (box), model, FALSE, error))
    return sl_fail_prefix (
      error,
      "%s: made for another model, another input-shape or other fixed inputs; make it anew "
      "with " MAKE ", or delete it: ",
      path);
  if (compare (box, model, session, error))
    return TRUE;
  return sl_fail_prefix (error, "%s: ", path);
}
