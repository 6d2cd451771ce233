/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decision what slnormalize makes. With a contract, the model decides and properties may only
 * repeat it (fit, filter and pad-value, which change nothing the model declares, are free); without
 * one, the negotiated tensor and the properties decide, and a float tensor needs its value range
 * stated: it is never guessed.
 */
#include "plugins/tensor/normalize_spec.h"

#include "core/base/fail.h"
#include "models/numbers.h"
#include "plugins/base/properties.h"
#include "plugins/tensor/caps.h"
#include "predict/contractspec.h"

#include <math.h>
#include <string.h>

/* By the choice of the type property. */
static const SlDtype out_dtypes[] = { [SL_OUT_U8] = SL_DTYPE_U8,
                                      [SL_OUT_I8] = SL_DTYPE_I8,
                                      [SL_OUT_F32] = SL_DTYPE_F32,
                                      [SL_OUT_F16] = SL_DTYPE_F16 };

void
sl_normalize_spec_propose (const SlNormalizeSettings *settings, gint frame_width, gint frame_height,
                           gboolean frame_gray, SlTensorInfo *tensor)
{
  gint width = settings->width > 0 ? settings->width : frame_width;
  gint height = settings->height > 0 ? settings->height : frame_height;
  gboolean gray =
    settings->colour == SL_CHOICE_AUTO ? frame_gray : settings->colour == 1 + SL_COLOUR_GRAY;
  gboolean planar = settings->layout == 1 + SL_LAYOUT_NCHW;
  gint channels = gray ? 1 : 3;
  memset (tensor, 0, sizeof *tensor);
  if (settings->type != SL_CHOICE_AUTO)
    tensor->dtype = out_dtypes[settings->type - 1];
  else
    tensor->dtype = settings->mean != NULL || settings->std != NULL ? SL_DTYPE_F32 : SL_DTYPE_U8;
  tensor->rank = 4;
  tensor->dims[0] = 1;
  tensor->dims[1] = planar ? channels : height;
  tensor->dims[2] = planar ? height : width;
  tensor->dims[3] = planar ? width : channels;
  tensor->bytes = (gsize) width * (gsize) height * (gsize) channels * sl_dtype_size (tensor->dtype);
}

static gboolean
parse_values (const char *name, const char *text, guint channels, gboolean positive,
              gdouble values[3], GError **error)
{
  const guint n = sl_numbers_parse (text, values, 3);
  gboolean good = n == 1 || n == channels;
  for (guint i = 0; good && i < channels; i++) {
    values[i] = values[n == 1 ? 0 : i];
    good = !positive || sl_std_is_valid (values[i]);
  }
  if (!good)
    sl_fail (error, SL_ERROR_ARGUMENT,
             "%s=%s: expected 1 or %u numbers%s with ',' between, such as %s=127.5", name, text,
             channels, positive ? " above 0" : "", name);
  return good;
}

/* mean and std of the properties; 0 and 1 for the one that is not set. */
static gboolean
parse_range (const SlNormalizeSettings *settings, guint channels, gdouble mean[3], gdouble std[3],
             GError **error)
{
  for (guint i = 0; i < 3; i++) {
    mean[i] = 0;
    std[i] = 1;
  }
  return (settings->mean == NULL
          || parse_values ("mean", settings->mean, channels, FALSE, mean, error))
         && (settings->std == NULL
             || parse_values ("std", settings->std, channels, TRUE, std, error));
}

static gboolean
contradiction (const SlContract *contract, const char *property, const char *wanted,
               const char *got, GError **error)
{
  return sl_fail (
    error, SL_ERROR_CONTRACT,
    "the model %s wants %s=%s, but slnormalize's property says %s=%s: remove the property, or "
    "correct the model's contract with slinfer's properties or MODEL.modelinfo",
    contract->model, property, wanted, property, got);
}

static gboolean
check_number (const SlContract *contract, const char *property, gint wanted, gint got,
              GError **error)
{
  if (got == 0 || got == wanted)
    return TRUE;
  g_autofree char *wanted_text = g_strdup_printf ("%d", wanted);
  g_autofree char *got_text = g_strdup_printf ("%d", got);
  return contradiction (contract, property, wanted_text, got_text, error);
}

static gboolean
check_choice (const SlContract *contract, const char *property, const char *wanted, GType type,
              gint got, GError **error)
{
  const char *nick = sl_choice_nick (type, got);
  if (nick == NULL || g_ascii_strcasecmp (nick, wanted) == 0)
    return TRUE;
  return contradiction (contract, property, wanted, nick, error);
}

static gboolean
check_values (const SlContract *contract, const char *property, const gdouble *wanted,
              const gdouble *got, const char *text, GError **error)
{
  const gint channels = contract->image.channels;
  GString *wanted_text = g_string_new (NULL);
  gboolean good = TRUE;
  for (gint i = 0; i < channels; i++) {
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    good = good && fabs (wanted[i] - got[i]) <= 1e-3 * MAX (1, fabs (wanted[i]));
    g_string_append_printf (wanted_text, "%s%s", i > 0 ? "," : "",
                            g_ascii_formatd (number, sizeof number, "%.7g", wanted[i]));
  }
  if (!good)
    contradiction (contract, property, wanted_text->str, text, error);
  g_string_free (wanted_text, TRUE);
  return good;
}

static gboolean
check_properties (const SlNormalizeSettings *settings, const SlContract *contract, GError **error)
{
  const SlImageContract *image = &contract->image;
  return check_number (contract, "width", image->width, settings->width, error)
         && check_number (contract, "height", image->height, settings->height, error)
         && check_choice (contract, "type", sl_dtype_name (contract->inputs[0].dtype),
                          sl_type_choice_get_type (), settings->type, error)
         && check_choice (contract, "colour", sl_colour_name (image->colour),
                          sl_colour_choice_get_type (), settings->colour, error)
         && check_choice (contract, "layout", sl_layout_name (image->layout),
                          sl_layout_choice_get_type (), settings->layout, error);
}

/* Gain and offset by the contract, or by mean and std where only the properties state the range. */
static gboolean
choose_range (const SlNormalizeSettings *settings, const SlContract *contract,
              SlNormalizeSpec *spec, GError **error)
{
  const SlImageContract *image = &contract->image;
  gdouble mean[3], std[3];
  if (!parse_range (settings, (guint) image->channels, mean, std, error))
    return FALSE;
  if (!image->range_known) {
    if (settings->mean == NULL && settings->std == NULL)
      return sl_contract_require_range (contract, error);
    for (gint i = 0; i < 3; i++) {
      spec->gain[i] = 1 / std[i];
      spec->offset[i] = -mean[i] / std[i];
    }
    return TRUE;
  }
  return (settings->mean == NULL
          || check_values (contract, "mean", image->mean, mean, settings->mean, error))
         && (settings->std == NULL
             || check_values (contract, "std", image->std, std, settings->std, error));
}

static gboolean
choose_by_contract (const SlNormalizeSettings *settings, const SlContract *contract,
                    const SlTensorInfo *tensors, guint n, SlNormalizeSpec *spec, GError **error)
{
  if (contract->image.valid && !sl_contract_require_one_input (contract, error))
    return FALSE;
  if (!sl_tensors_same (contract->inputs, contract->n_inputs, tensors, n)) {
    g_autofree char *wanted = sl_tensor_infos_describe (contract->inputs, contract->n_inputs);
    g_autofree char *got = sl_tensor_infos_describe (tensors, n);
    return sl_fail (error, SL_ERROR_SHAPE,
                    "the model %s wants %s, but the caps between say %s: remove the capsfilter",
                    contract->model, wanted, got);
  }
  if (!sl_contract_spec (contract, spec)) {
    g_autofree char *wanted = sl_tensor_infos_describe (contract->inputs, contract->n_inputs);
    return sl_fail (
      error, SL_ERROR_CONTRACT,
      "the model %s wants %s, which is no picture that slnormalize makes; expected uint8, int8, "
      "int32, int64, float16 or float32 of 1 or 3 channels: use another element to make its "
      "tensors",
      contract->model, wanted);
  }
  if (!check_properties (settings, contract, error))
    return FALSE;
  if (settings->fit != SL_CHOICE_AUTO && spec->fit != (SlFit) (settings->fit - 1)) {
    spec->fit = (SlFit) (settings->fit - 1);
    spec->share = 1;
  }
  if (settings->pad_value >= 0)
    spec->pad_value = settings->pad_value;
  return choose_range (settings, contract, spec, error);
}

/* Reads a picture's sizes from a tensor: NHWC unless only NCHW is possible or the property says so.
 */
static gboolean
choose_shape (const SlNormalizeSettings *settings, const SlTensorInfo *tensor, gint *width,
              gint *height, gint *channels, SlLayout *layout)
{
  gint32 inner[4] = { 1, 1, 1, 1 };
  for (guint i = 0; i < tensor->rank; i++) {
    gint32 dimension = tensor->dims[tensor->rank - 1 - i];
    if (i < G_N_ELEMENTS (inner))
      inner[i] = dimension;
    else if (dimension != 1)
      return FALSE;
  }
  gboolean nhwc = inner[0] == 1 || inner[0] == 3;
  gboolean nchw = inner[2] == 1 || inner[2] == 3;
  if (settings->layout != SL_CHOICE_AUTO)
    *layout = (SlLayout) (settings->layout - 1);
  else
    *layout = nhwc || !nchw ? SL_LAYOUT_NHWC : SL_LAYOUT_NCHW;
  *channels = *layout == SL_LAYOUT_NHWC ? inner[0] : inner[2];
  *width = *layout == SL_LAYOUT_NHWC ? inner[1] : inner[0];
  *height = *layout == SL_LAYOUT_NHWC ? inner[2] : inner[1];
  return inner[3] == 1 && (*layout == SL_LAYOUT_NHWC ? nhwc : nchw);
}

static gboolean
mismatch (const SlTensorInfo *tensor, const char *property, const char *got, GError **error)
{
  g_autofree char *wanted = sl_tensor_infos_describe (tensor, 1);
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "the caps after slnormalize say %s, but its property says %s=%s: change one of them", wanted,
    property, got);
}

static gboolean
check_against_caps (const SlNormalizeSettings *settings, const SlTensorInfo *tensor,
                    const SlNormalizeSpec *spec, gint channels, GError **error)
{
  g_autofree char *width = g_strdup_printf ("%d", settings->width);
  g_autofree char *height = g_strdup_printf ("%d", settings->height);
  if (settings->width > 0 && settings->width != spec->width)
    return mismatch (tensor, "width", width, error);
  if (settings->height > 0 && settings->height != spec->height)
    return mismatch (tensor, "height", height, error);
  if (settings->type != SL_CHOICE_AUTO && settings->type - 1 != (gint) spec->type)
    return mismatch (tensor, "type", sl_choice_nick (sl_type_choice_get_type (), settings->type),
                     error);
  if (settings->colour != SL_CHOICE_AUTO
      && (settings->colour == 1 + SL_COLOUR_GRAY) != (channels == 1))
    return mismatch (tensor, "colour",
                     sl_choice_nick (sl_colour_choice_get_type (), settings->colour), error);
  return TRUE;
}

static gboolean
choose_alone (const SlNormalizeSettings *settings, const SlTensorInfo *tensors, guint n,
              SlNormalizeSpec *spec, GError **error)
{
  gint channels = 0;
  SlLayout layout = SL_LAYOUT_NHWC;
  gdouble mean[3], std[3];
  gboolean ranged = settings->mean != NULL || settings->std != NULL;
  if (n != 1 || !sl_contract_out_type (tensors[0].dtype, &spec->type)
      || !choose_shape (settings, &tensors[0], &spec->width, &spec->height, &channels, &layout)) {
    g_autofree char *got = sl_tensor_infos_describe (tensors, n);
    return sl_fail (
      error, SL_ERROR_SHAPE,
      "slnormalize makes one picture of uint8, int8, int32, int64, float16 or float32 with 1 or 3 "
      "channels, such as uint8[1,224,224,3]; the caps after it want %s%s",
      got, settings->layout != SL_CHOICE_AUTO ? " (mind the layout property)" : "");
  }
  if (!check_against_caps (settings, &tensors[0], spec, channels, error)
      || !parse_range (settings, (guint) channels, mean, std, error))
    return FALSE;
  gboolean real = spec->type == SL_OUT_F32 || spec->type == SL_OUT_F16;
  if (real && !ranged)
    return sl_fail (
      error, SL_ERROR_CONTRACT,
      "%s tensors are wanted, but nothing states their range: set slnormalize's mean and std, "
      "value = (byte - mean) / std; mean=0 std=255 gives 0..1, mean=127.5 std=127.5 gives -1..1, "
      "mean=0 std=1 keeps 0..255",
      sl_dtype_name (tensors[0].dtype));
  if (!real && ranged)
    return sl_fail (
      error, SL_ERROR_CONTRACT,
      "slnormalize's mean and std apply to float tensors, but %s is wanted, which takes the "
      "picture's bytes: remove them or set type=float32",
      sl_dtype_name (tensors[0].dtype));
  const SlColour colour =
    settings->colour != SL_CHOICE_AUTO ? (SlColour) (settings->colour - 1) : SL_COLOUR_RGB;
  spec->layout = layout;
  spec->colour = channels == 1 ? SL_COLOUR_GRAY : colour;
  spec->fit = settings->fit != SL_CHOICE_AUTO ? (SlFit) (settings->fit - 1) : SL_FIT_STRETCH;
  spec->pad_value = settings->pad_value >= 0 ? settings->pad_value : SL_PAD_VALUE;
  for (guint i = 0; i < 3; i++) {
    spec->gain[i] = 1 / std[i];
    spec->offset[i] = spec->type == SL_OUT_I8 ? -128 : -mean[i] / std[i];
  }
  return TRUE;
}

gboolean
sl_normalize_spec_choose (const SlNormalizeSettings *settings, const SlContract *contract,
                          const SlTensorInfo *tensors, guint n, SlNormalizeSpec *spec,
                          GError **error)
{
  memset (spec, 0, sizeof *spec);
  spec->filter = (SlFilter) settings->filter;
  if (contract != NULL)
    return choose_by_contract (settings, contract, tensors, n, spec, error);
  return choose_alone (settings, tensors, n, spec, error);
}
