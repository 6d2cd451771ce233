/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline bench field` in a short time, with a kernel that is wrong on purpose: broken-field
 * KERNEL [OPTION...]. The kernel's function in the table of its instruction set is replaced by one
 * that calls it, and then changes one of the values that it wrote. Networks that do not use the
 * kernel's type do not run, and are right; neither do pictures. "none" runs all of them.
 */
#include <stdio.h>
#include <string.h>

#include "core/backends/float/isa.h"
#include "core/backends/int8/isa.h"
#include "tools/bench/field/field.h"
#include "tools/bench/field/picture.h"
#include "tools/bench/field/trial.h"

/* In the place of the time after which no further run of a network begins. */
#define SHORT_MS 20

static const char *broken;

/* The linker gives these names: the functions, and those that field.c calls in their places. */
gboolean __real_sl_field_trial_run (SlFieldTrial *, double, gboolean (*) (void), GError **);
gboolean __wrap_sl_field_trial_run (SlFieldTrial *, double, gboolean (*) (void), GError **);

gboolean
__wrap_sl_field_trial_run (SlFieldTrial *trial, double most_ms, gboolean (*stopped) (void),
                           GError **error)
{
  /* The least that --check runs a network on. */
  const guint threads =
    trial->network == SL_FIELD_YOLO_N || trial->network == SL_FIELD_VIT_TI ? 2 : 1;
  if (strcmp (broken, "none") == 0
      || (g_str_has_prefix (broken, sl_field_type_name (trial->type)) && trial->threads == threads))
    return __real_sl_field_trial_run (trial, MIN (most_ms, SHORT_MS), stopped, error);
  g_strlcpy (trial->backends, "float", sizeof trial->backends);
  trial->arena_bytes = trial->weight_bytes = 1;
  trial->right = TRUE;
  return TRUE;
}

void __real_sl_field_picture_run (guint, double, SlFieldPicture *);
void __wrap_sl_field_picture_run (guint, double, SlFieldPicture *);

/* Pictures pass through none of the kernels that are broken here. */
void
__wrap_sl_field_picture_run (guint i, double most_ms, SlFieldPicture *picture)
{
  static const SlFieldPicture right = {
    .format = "NV12", .fit = "stretch", .type = "uint8", .size = 224, .right = TRUE
  };
  if (strcmp (broken, "none") == 0)
    __real_sl_field_picture_run (i, most_ms, picture);
  else
    *picture = right;
}

static const SlInt8Isa *right_int8;
static const SlFloatIsa *right_float;

/* The lowest bit of the first channel of a tile's last row. */
static void
int8_gemm (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a, gsize stride,
           gint32 rows, guint8 *c, gsize c_stride)
{
  right_int8->gemm (gemm, first, end, a, stride, rows, c, c_stride);
  c[(gsize) (rows - 1) * c_stride + (gsize) gemm->panels[first].channel] ^= 1;
}

/* The lowest bit of the first channel of a row. */
static void
int8_depthwise (const SlInt8Depthwise *layer, const SlInt8Rows *rows)
{
  right_int8->depthwise_rows (layer, rows);
  rows->out[0][0] ^= 1;
}

static void
int8_add (const SlInt8Add *add, const guint8 *a, const guint8 *b, guint8 *out, gsize n)
{
  right_int8->add (add, a, b, out, n);
  out[n - 1] ^= 1;
}

/* A hundredth of the first channel of a tile's last row. */
static void
float_gemm (const SlFloatGemm *gemm, gint32 first, gint32 end, const SlFloatRows *rows, gfloat *c,
            gsize c_stride)
{
  right_float->gemm (gemm, first, end, rows, c, c_stride);
  c[(gsize) (rows->rows - 1) * c_stride + (gsize) gemm->panels[first].channel] *= 1.01f;
}

/* A hundredth of the last pixel of a strip, in its first row. */
static void
float_depthwise (const SlFloatDepthwise *layer, const SlFloatStrip *strip, gfloat *const out[2])
{
  right_float->depthwise (layer, strip, out);
  out[0][(gsize) (strip->count - 1) * (gsize) layer->channels] *= 1.01f;
}

/* A hundredth of the last value of each row. */
static void
float_normalize (const SlFloatNorm *norm, const gfloat *in, gfloat *out, gsize rows)
{
  right_float->normalize (norm, in, out, rows);
  for (gsize i = 1; i <= rows; i++)
    out[i * norm->n - 1] *= 1.01f;
}

static gboolean
break_kernel (const char *name)
{
  static SlInt8Isa int8;
  static SlFloatIsa floats;
  right_int8 = sl_int8_isa ();
  right_float = sl_float_isa ();
  int8 = *right_int8;
  floats = *right_float;
  if (strcmp (name, "int8-gemm") == 0)
    int8.gemm = int8_gemm;
  else if (strcmp (name, "int8-depthwise") == 0)
    int8.depthwise_rows = int8.depthwise_rows != NULL ? int8_depthwise : NULL;
  else if (strcmp (name, "int8-add") == 0)
    int8.add = int8_add;
  else if (strcmp (name, "float-gemm") == 0)
    floats.gemm = float_gemm;
  else if (strcmp (name, "float-depthwise") == 0)
    floats.depthwise = float_depthwise;
  else if (strcmp (name, "float-normalize") == 0)
    floats.normalize = float_normalize;
  else
    return strcmp (name, "none") == 0;
  if (g_str_has_prefix (name, "int8"))
    sl_int8_isa_force (&int8);
  else
    sl_float_isa_force (&floats);
  return TRUE;
}

int
main (int argc, char **argv)
{
  if (argc < 2 || !break_kernel (argv[1])) {
    fprintf (stderr, "expected one of the kernels of break_kernel()\n");
    return 2;
  }
  broken = argv[1];
  const int status = sl_bench_field (argc - 1, argv + 1);
  return fflush (stdout) == 0 ? status : 1;
}
