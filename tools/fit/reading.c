/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See reading.h. The conventions are those of TensorFlow, PyTorch, Caffe, CLIP and MNIST's
 * examples. */
#include "tools/fit/reading.h"

#include <math.h>

#include "core/base/picture.h"
#include "models/numbers.h"

/* In the order in which equals are preferred. Shares are of TensorFlow's models, then of others
 * that name classes, of those that read text, and of the rest. */
static const SlConvention conventions[] = {
  { "0..1", { 0, 0, 0 }, { 255, 255, 255 }, { 0.42, 0.28, 0.30, 0.33 } },
  { "-1..1", { 127.5, 127.5, 127.5 }, { 127.5, 127.5, 127.5 }, { 0.38, 0.12, 0.50, 0.22 } },
  { "ImageNet",
    { 123.675, 116.28, 103.53 },
    { 58.395, 57.12, 57.375 },
    { 0.04, 0.38, 0.10, 0.23 } },
  { "0..255", { 0, 0, 0 }, { 1, 1, 1 }, { 0.13, 0.14, 0.06, 0.17 } },
  { "Caffe", { 123.68, 116.779, 103.939 }, { 1, 1, 1 }, { 0.025, 0.03, 0.02, 0.03 } },
  { "CLIP",
    { 122.7709383, 116.7460125, 104.09373615 },
    { 68.5005327, 66.6321579, 70.32316305 },
    { 0.005, 0.05, 0.01, 0.02 } },
};

static const SlConvention of_gray[] = {
  { "0..1", { 0 }, { 255 }, { 0.50, 0.45, 0.30, 0.45 } },
  { "-1..1", { 127.5 }, { 127.5 }, { 0.30, 0.25, 0.60, 0.30 } },
  { "0..255", { 0 }, { 1 }, { 0.15, 0.20, 0.07, 0.20 } },
  { "MNIST", { 33.3184 }, { 78.5655 }, { 0.05, 0.10, 0.03, 0.05 } },
};

/* Codes of a quantised input. */
static const SlConvention bytes = { "bytes", { 0 }, { 1 }, { 1, 1, 1, 1 } };

/* The share of models that take BGR. TensorFlow reads pictures as RGB and OpenCV as BGR. Models of
 * plain bytes come from OpenCV more often, models of Caffe's values nearly always. */
#define BGR 0.3
#define BGR_OF_TENSORFLOW 0.05
#define BGR_OF_BYTES 0.5
#define BGR_OF_TENSORFLOW_BYTES 0.25
#define BGR_OF_CAFFE 0.85

static SlReading *
add (GPtrArray *readings, const SlConvention *convention, const SlImageContract *image,
     SlColour colour, SlFit fit)
{
  SlReading *reading = g_new0 (SlReading, 1);
  reading->convention = convention;
  reading->colour = colour;
  reading->fit = fit;
  reading->own_fit = fit;
  reading->own_share = image->crop_share;
  reading->layers = reading->truth = NAN;
  reading->score_of = g_array_new (FALSE, FALSE, sizeof (gdouble));
  g_ptr_array_add (readings, reading);
  return reading;
}

static void
free_reading (gpointer reading)
{
  sl_reading_free (reading);
}

/* What the user states, in place of all conventions: one for the whole program, as the options are.
 * NULL where nothing is stated. */
static const SlConvention *
stated_values (const SlContract *contract, const SlModelOptions *options)
{
  if (options == NULL || (options->settings.mean == NULL && options->settings.std == NULL))
    return NULL;
  static SlConvention convention = { .name = "as stated", .share = { 1, 1, 1, 1 } };
  const gboolean reversed = contract->image.colour == SL_COLOUR_BGR;
  for (guint c = 0; c < 3; c++) {
    convention.mean[reversed ? 2 - c : c] = contract->image.mean[c];
    convention.std[reversed ? 2 - c : c] = contract->image.std[c];
  }
  return &convention;
}

GPtrArray *
sl_readings_values (const SlContract *contract, const SlModelOptions *options, SlFit fit)
{
  GPtrArray *readings = g_ptr_array_new_with_free_func (free_reading);
  const SlImageContract *image = &contract->image;
  const gboolean gray = image->channels == 1;
  const gboolean real =
    contract->inputs[0].dtype == SL_DTYPE_F32 || contract->inputs[0].dtype == SL_DTYPE_F16;
  const SlConvention *stated = stated_values (contract, options);
  const SlConvention *values = stated != NULL ? stated
                               : !real        ? &bytes
                               : gray         ? of_gray
                                              : conventions;
  const guint n = stated != NULL || !real ? 1
                  : gray                  ? G_N_ELEMENTS (of_gray)
                                          : G_N_ELEMENTS (conventions);
  const SlColour both[] = { SL_COLOUR_RGB, SL_COLOUR_BGR };
  for (guint i = 0; i < n; i++) {
    if (gray)
      add (readings, &values[i], image, SL_COLOUR_GRAY, fit);
    for (guint c = 0; c < G_N_ELEMENTS (both) && !gray; c++)
      if (options == NULL || options->settings.colour == NULL || image->colour == both[c])
        add (readings, &values[i], image, both[c], fit);
  }
  return readings;
}

SlReading *
sl_reading_new (const SlReading *of, SlFit fit)
{
  SlReading *reading = g_new0 (SlReading, 1);
  *reading = *of;
  reading->fit = fit;
  reading->said = reading->score = 0;
  reading->score_of = g_array_new (FALSE, FALSE, sizeof (gdouble));
  return reading;
}

void
sl_reading_free (SlReading *reading)
{
  if (reading == NULL)
    return;
  g_array_unref (reading->score_of);
  g_free (reading);
}

/* Mean and std of channel @c of the tensor. */
static void
values_of (const SlReading *reading, guint c, gdouble *mean, gdouble *std)
{
  const guint at = reading->colour == SL_COLOUR_BGR ? 2 - c : c;
  *mean = reading->convention->mean[at];
  *std = reading->convention->std[at];
}

static gdouble
share_of (const SlReading *reading)
{
  return reading->fit == reading->own_fit ? reading->own_share : 1;
}

/* The share as a setting takes it; (nullable): the whole. */
static const char *
share_text (const SlReading *reading, char text[static G_ASCII_DTOSTR_BUF_SIZE])
{
  return share_of (reading) != 1
           ? g_ascii_formatd (text, G_ASCII_DTOSTR_BUF_SIZE, "%.9g", share_of (reading))
           : NULL;
}

void
sl_reading_spec (const SlReading *reading, SlNormalizeSpec *spec)
{
  spec->colour = reading->colour;
  spec->share = share_of (reading);
  spec->fit = reading->fit;
  for (guint c = 0; c < 3 && !sl_reading_is_bytes (reading); c++) {
    gdouble mean, std;
    values_of (reading, reading->colour == SL_COLOUR_GRAY ? 0 : c, &mean, &std);
    spec->gain[c] = 1 / std;
    spec->offset[c] = -mean / std;
  }
}

/* Decoders that read the outputs of one family of networks, and the pixels that its makers' own
 * programs give it. */
static const struct
{
  const char *decoder, *convention;
  SlColour colour;
} families[] = {
  { "fastestdet", "0..1", SL_COLOUR_BGR },   { "lines", "0..255", SL_COLOUR_RGB },
  { "mtcnn", "-1..1", SL_COLOUR_RGB },       { "nanodet", "ImageNet", SL_COLOUR_BGR },
  { "retinaface", "Caffe", SL_COLOUR_BGR },  { "scrfd", "-1..1", SL_COLOUR_RGB },
  { "ultraface", "-1..1", SL_COLOUR_RGB },   { "yunet", "0..255", SL_COLOUR_BGR },
  { "yunet-2021", "0..255", SL_COLOUR_BGR },
};
/* How many models of a family are used so; the others have any values. */
#define OF_FAMILY 0.6

/* @share: without the family */
static gdouble
share_in_family (const SlReading *reading, const char *decoder, gdouble share)
{
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    if (g_str_equal (families[i].decoder, decoder))
      return (1 - OF_FAMILY) * share
             + (g_str_equal (families[i].convention, reading->convention->name)
                    && families[i].colour == reading->colour
                  ? OF_FAMILY
                  : 0);
  return share;
}

gdouble
sl_reading_share (const SlReading *reading, SlOrigin origin, const char *decoder)
{
  const SlConvention *convention = reading->convention;
  const gboolean of_tensorflow = origin == SL_ORIGIN_TENSORFLOW;
  gdouble bgr = of_tensorflow ? BGR_OF_TENSORFLOW : BGR;
  if (g_str_equal (convention->name, "Caffe"))
    bgr = BGR_OF_CAFFE;
  if (g_str_equal (convention->name, "0..255"))
    bgr = of_tensorflow ? BGR_OF_TENSORFLOW_BYTES : BGR_OF_BYTES;
  return share_in_family (reading, decoder,
                          convention->share[origin]
                            * (reading->colour == SL_COLOUR_GRAY  ? 1
                               : reading->colour == SL_COLOUR_BGR ? bgr
                                                                  : 1 - bgr));
}

gboolean
sl_reading_same_values (const SlReading *a, const SlReading *b)
{
  return a->convention == b->convention && a->colour == b->colour;
}

gdouble
sl_reading_usual (const SlReading *reading)
{
  static const gdouble usual[] = { 123.675, 116.28, 103.53 };
  gdouble sum = 0, mean, std;
  for (guint c = 0; c < 3; c++) {
    const guint at = reading->colour == SL_COLOUR_GRAY ? 0 : c;
    values_of (reading, at, &mean, &std);
    sum += (usual[reading->colour == SL_COLOUR_BGR ? 2 - c : c] - mean) / std;
  }
  return sum / 3;
}

static char *
number_list (const SlReading *reading, gboolean of_std)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gdouble first[2], pair[2];
  gboolean same = TRUE;
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  values_of (reading, 0, &first[0], &first[1]);
  for (guint c = 1; c < 3 && reading->colour != SL_COLOUR_GRAY; c++) {
    values_of (reading, c, &pair[0], &pair[1]);
    same = same && fabs (pair[of_std] - first[of_std]) < 1e-12;
  }
  for (guint c = 0; c < (same ? 1u : 3u); c++) {
    values_of (reading, c, &pair[0], &pair[1]);
    g_string_append_printf (text, "%s%s", c > 0 ? "," : "",
                            g_ascii_formatd (number, sizeof number, "%.9g", pair[of_std]));
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gboolean
sl_reading_is_bytes (const SlReading *reading)
{
  return reading->convention == &bytes;
}

char *
sl_reading_mean (const SlReading *reading)
{
  return number_list (reading, FALSE);
}

char *
sl_reading_std (const SlReading *reading)
{
  return number_list (reading, TRUE);
}

void
sl_reading_settings (const SlReading *reading, const SlModelSettings *given,
                     SlModelSettings *settings)
{
  const gboolean is_bytes = sl_reading_is_bytes (reading);
  g_autofree char *mean = sl_reading_mean (reading), *std = sl_reading_std (reading);
  sl_model_settings_copy (given, settings);
  sl_setting_set (sl_setting_find ("mean"), settings, is_bytes ? NULL : mean);
  sl_setting_set (sl_setting_find ("std"), settings, is_bytes ? NULL : std);
  sl_setting_set (sl_setting_find ("colour"), settings, sl_colour_name (reading->colour));
  sl_setting_set (sl_setting_find ("fit"), settings, sl_fit_name (reading->fit));
  char share[G_ASCII_DTOSTR_BUF_SIZE];
  sl_setting_set (sl_setting_find ("crop-share"), settings, share_text (reading, share));
}

char *
sl_reading_options (const SlReading *reading)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *mean = sl_reading_mean (reading), *std = sl_reading_std (reading);
  if (!sl_reading_is_bytes (reading))
    g_string_append_printf (text, "--mean %s --std %s", mean, std);
  if (reading->colour == SL_COLOUR_BGR)
    g_string_append_printf (text, "%s--colour BGR", text->len > 0 ? " " : "");
  if (reading->fit != reading->own_fit || reading->fit != SL_FIT_STRETCH)
    g_string_append_printf (text, "%s--fit %s", text->len > 0 ? " " : "",
                            sl_fit_name (reading->fit));
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  const char *share = share_text (reading, number);
  if (share != NULL)
    g_string_append_printf (text, " --crop-share %s", share);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
