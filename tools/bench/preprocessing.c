/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures and prints; see preprocessing.h. */
#include "tools/bench/preprocessing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/percentile.h"
#include "tools/bench/peers.h"
#include "tools/bench/test_picture.h"
#include "tools/progress.h"

#define WARM_UP 5
/* However slow they are. */
#define MIN_ROUNDS 3
#define ERROR_STEP 13 /* every so many pixels are compared with double precision */

typedef struct
{
  SlPixelFormat format;
  int width, height;
  int tensor; /* both ways */
  SlFit fit;
  SlFilter filter;
  SlOutType type;
  SlLayout layout;
} Case;

#define HD 1920, 1080
#define SMALL 224, SL_FIT_STRETCH

static const Case cases[] = {
  { SL_PIXEL_NV12, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_NV12, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NCHW },
  { SL_PIXEL_NV12, HD, SMALL, SL_FILTER_AREA, SL_OUT_F16, SL_LAYOUT_NHWC },
  { SL_PIXEL_NV12, HD, SMALL, SL_FILTER_AREA, SL_OUT_U8, SL_LAYOUT_NHWC },
  { SL_PIXEL_NV12, HD, SMALL, SL_FILTER_AREA, SL_OUT_I8, SL_LAYOUT_NHWC },
  { SL_PIXEL_NV12, HD, SMALL, SL_FILTER_AREA, SL_OUT_I8, SL_LAYOUT_NCHW },
  { SL_PIXEL_NV12, HD, SMALL, SL_FILTER_BILINEAR, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_NV12, HD, SMALL, SL_FILTER_BILINEAR, SL_OUT_U8, SL_LAYOUT_NHWC },
  { SL_PIXEL_NV12, HD, 640, SL_FIT_LETTERBOX, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_NV12, HD, 640, SL_FIT_LETTERBOX, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NCHW },
  { SL_PIXEL_NV12, HD, 640, SL_FIT_LETTERBOX, SL_FILTER_AREA, SL_OUT_U8, SL_LAYOUT_NHWC },
  { SL_PIXEL_NV12, 1280, 720, SMALL, SL_FILTER_AREA, SL_OUT_U8, SL_LAYOUT_NHWC },
  { SL_PIXEL_NV12, 640, 480, SMALL, SL_FILTER_AREA, SL_OUT_U8, SL_LAYOUT_NHWC },
  { SL_PIXEL_NV12, 3840, 2160, SMALL, SL_FILTER_AREA, SL_OUT_U8, SL_LAYOUT_NHWC },
  { SL_PIXEL_NV21, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_I420, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_YV12, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_YUY2, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_UYVY, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_Y42B, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_Y444, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_P010, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_I420_10, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_GRAY8, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_RGB, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_BGRX, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
  { SL_PIXEL_RGBP, HD, SMALL, SL_FILTER_AREA, SL_OUT_F32, SL_LAYOUT_NHWC },
};

#define N_CASES (sizeof cases / sizeof cases[0])

static const char *const fit_names[] = { "stretch", "letterbox", "crop" };
static const char *const filter_names[] = { "nearest", "bilinear", "area", "auto" };
static const char *const type_names[] = { "uint8", "int8", "float32", "float16" };
static const char *const layout_names[] = { "NHWC", "NCHW" };

/* What a round measures, in this order. */
enum
{
  OURS,
  LIBYUV,
  GSTREAMER,
  COPY,
  SUBJECTS
};

typedef struct
{
  double min, median, p95;
} Figures;

typedef struct
{
  const Case *test;
  SlNormalizeSpec spec;
  SlBenchPicture picture;
  SlNormalizer *normalizer;
  SlBenchPeer *libyuv;         /* NULL: none */
  SlBenchConverter *gstreamer; /* NULL: none */
  uint8_t **frames;
  void *tensor;
  uint8_t *copy;
  double *times[SUBJECTS];
  double error;
} Run;

static double
now_us (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3;
}

static void *
allocate (size_t bytes)
{
  void *memory = aligned_alloc (4096, (bytes + 4095) / 4096 * 4096);
  if (memory == NULL) {
    fprintf (stderr, "out of memory\n");
    exit (1);
  }
  memset (memory, 0, bytes);
  return memory;
}

static void
init_run (Run *run, const Case *test, int rounds, int frames)
{
  const size_t tensor = (size_t) test->tensor;
  *run = (Run){ .test = test };
  sl_bench_picture_init (&run->picture, test->format, test->width, test->height);
  run->spec =
    (SlNormalizeSpec){ test->tensor, test->tensor, test->type, test->layout, SL_COLOUR_RGB,
                       test->fit,    test->filter, 114,        { 0 },        { 0 } };
  const bool integer = test->type == SL_OUT_U8 || test->type == SL_OUT_I8;
  for (int c = 0; c < 3; c++) {
    run->spec.gain[c] = integer ? 1.0 : 1.0 / 127.5;
    run->spec.offset[c] = test->type == SL_OUT_U8 ? 0.0 : integer ? -128.0 : -1.0;
  }
  if (sl_normalizer_new (&run->normalizer, &run->picture.info, &run->spec) != SL_NORMALIZE_OK)
    exit (1);
  run->libyuv = sl_bench_libyuv_new (&run->picture, &run->spec);
  run->gstreamer = sl_bench_converter_new (&run->picture, &run->spec);
  run->tensor = allocate (tensor * tensor * 3 * sizeof (float));
  run->copy = allocate (run->picture.bytes);
  run->frames = allocate ((size_t) frames * sizeof *run->frames);
  for (int i = 0; i < frames; i++) {
    run->frames[i] = allocate (run->picture.bytes);
    memcpy (run->frames[i], run->picture.memory, run->picture.bytes);
  }
  for (int s = 0; s < SUBJECTS; s++)
    run->times[s] = allocate ((size_t) rounds * sizeof (double));
}

static void
clear_run (Run *run, int frames)
{
  for (int s = 0; s < SUBJECTS; s++)
    free (run->times[s]);
  for (int i = 0; i < frames; i++)
    free (run->frames[i]);
  free (run->frames);
  free (run->copy);
  free (run->tensor);
  sl_bench_libyuv_free (run->libyuv);
  sl_bench_converter_free (run->gstreamer);
  sl_normalizer_free (run->normalizer);
  sl_bench_picture_clear (&run->picture);
}

static void
run_subject (Run *run, int subject, const uint8_t *frame)
{
  SlImage image = { { NULL }, { 0 } };
  sl_bench_picture_image (&run->picture, frame, &image);
  if (subject == OURS)
    sl_normalizer_run (run->normalizer, &image, run->tensor);
  else if (subject == LIBYUV && run->libyuv != NULL)
    sl_bench_libyuv_run (run->libyuv, &image, run->tensor);
  else if (subject == GSTREAMER && run->gstreamer != NULL)
    sl_bench_converter_run (run->gstreamer, frame, run->tensor);
  else if (subject == COPY)
    memcpy (run->copy, frame, run->picture.bytes);
}

/* Warm: the same picture, each subject several times before its own turn counts. Cold: always one
 * that was not used for long. Returns how many rounds there were. */
static int
measure (Run *run, const SlBenchPreprocess *bench, int frames)
{
  const double start = now_us ();
  int next = 0, i = -WARM_UP;
  for (; i < bench->rounds; i++) {
    if (bench->most_ms > 0 && i >= MIN_ROUNDS && now_us () - start > 1e3 * bench->most_ms)
      break;
    for (int s = 0; s < SUBJECTS; s++) {
      if (frames == 1)
        run_subject (run, s, run->frames[0]);
      const uint8_t *frame = run->frames[next++ % frames];
      const double before = now_us ();
      run_subject (run, s, frame);
      if (i >= 0)
        run->times[s][i] = now_us () - before;
    }
  }
  return i;
}

static int
compare (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

static void
print_peer (FILE *out, bool measured, double us)
{
  if (measured)
    fprintf (out, "%.1f", us);
  else
    fputs ("null", out);
}

static void
print_column (FILE *out, bool measured, double us, double ours)
{
  if (measured)
    fprintf (out, " %7.1f %5.2fx", us, us / ours);
  else
    fprintf (out, " %7s %6s", "-", "-");
}

static void
print_json (FILE *out, const Run *run, const Figures figures[SUBJECTS], bool cold)
{
  const Case *test = run->test;
  fprintf (out,
           "{\"format\":\"%s\",\"in\":\"%dx%d\",\"out\":\"%dx%d\",\"fit\":\"%s\",\"filter\":\"%s\","
           "\"dtype\":\"%s\",\"layout\":\"%s\",",
           sl_pixel_format_name (test->format), test->width, test->height, test->tensor,
           test->tensor, fit_names[test->fit], filter_names[test->filter], type_names[test->type],
           layout_names[test->layout]);
  fprintf (out,
           "\"cache\":\"%s\",\"kernel\":\"%s\",\"min_us\":%.1f,\"median_us\":%.1f,\"p95_us\":%.1f,"
           "\"limit_us\":%.1f,\"max_error\":%.3f,",
           cold ? "cold" : "warm", sl_normalizer_cpu (), figures[OURS].min, figures[OURS].median,
           figures[OURS].p95, figures[COPY].min, run->error);
  fputs ("\"peers\":{\"libyuv\":", out);
  print_peer (out, run->libyuv != NULL, figures[LIBYUV].min);
  fputs (",\"gstreamer\":", out);
  print_peer (out, run->gstreamer != NULL, figures[GSTREAMER].min);
  fputs ("}}\n", out);
}

static void
print_line (FILE *out, const Run *run, const Figures figures[SUBJECTS], bool cold)
{
  const Case *test = run->test;
  char size[16] = "";
  snprintf (size, sizeof size, "%dx%d", test->width, test->height);
  fprintf (out, "%-9s %-9s %3d %-9s %-8s %-7s %s %s %7.1f %7.1f %7.1f %7.1f %5.1fx %6.3f",
           sl_pixel_format_name (test->format), size, test->tensor, fit_names[test->fit],
           filter_names[test->filter], type_names[test->type], layout_names[test->layout],
           cold ? "cold" : "warm", figures[OURS].min, figures[OURS].median, figures[OURS].p95,
           figures[COPY].min, figures[OURS].min / figures[COPY].min, run->error);
  print_column (out, run->libyuv != NULL, figures[LIBYUV].min, figures[OURS].min);
  print_column (out, run->gstreamer != NULL, figures[GSTREAMER].min, figures[OURS].min);
  fputc ('\n', out);
}

static void
run_case (const SlBenchPreprocess *bench, const Case *test, FILE *out)
{
  Run run;
  const int copies = bench->cold_frames > 0 ? bench->cold_frames : 1;
  init_run (&run, test, bench->rounds, copies);
  run_subject (&run, OURS, run.frames[0]);
  run.error = sl_bench_picture_error (&run.picture, &run.spec, run.tensor, ERROR_STEP);
  for (int cold = 0; cold < (bench->cold_frames > 0 ? 2 : 1); cold++) {
    Figures figures[SUBJECTS];
    const int rounds = measure (&run, bench, cold ? copies : 1);
    for (int s = 0; s < SUBJECTS; s++) {
      double *times = run.times[s];
      qsort (times, (size_t) rounds, sizeof *times, compare);
      figures[s] = (Figures){ times[0], times[sl_percentile_index ((gsize) rounds, 50)],
                              times[sl_percentile_index ((gsize) rounds, 95)] };
    }
    sl_progress_hide ();
    (bench->json ? print_json : print_line) (out, &run, figures, cold != 0);
    fflush (out);
  }
  clear_run (&run, copies);
}

bool
sl_bench_preprocess (const SlBenchPreprocess *bench, FILE *out)
{
  bool found = false;
  SlProgress progress;
  sl_progress_start (&progress, "bench", bench->format == NULL ? "cases" : NULL,
                     bench->format == NULL ? N_CASES : 0);
  for (size_t i = 0; i < N_CASES; i++) {
    if (bench->format != NULL
        && strcmp (bench->format, sl_pixel_format_name (cases[i].format)) != 0)
      continue;
    if (!found && !bench->json)
      fprintf (out, "%-9s %-9s %3s %-9s %-8s %-7s %s %s %7s %7s %7s %7s %6s %6s %7s %6s %7s %6s\n",
               "format", "in", "out", "fit", "filter", "dtype", "lay.", "    ", "min us", "median",
               "p95", "copy", "ratio", "error", "libyuv", "ratio", "gst", "ratio");
    found = true;
    sl_progress_show (&progress, i);
    run_case (bench, &cases[i], out);
  }
  return found;
}
