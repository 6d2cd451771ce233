/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-read: how many codes the finder in the box and the reader behind it read, and zbar on the
 * whole picture; and how long either takes. Pictures are drawn: codes of zint's (the program, which
 * must be installed) on paper in front of other things, rotated, sheared, unevenly lit, blurred and
 * noisy. Usage: bench-read FINDER.tflite [SCENES [SEED [PICTURE.pgm]]]; the last writes the first
 * scene. Or bench-read --symbologies [SCENES [SEED]]: what each reader reads of each symbology,
 * where it is told where the codes are.
 */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <zbar.h>

#include "postprocess/read/regions.h"
#include "sightline/sightline.h"

#define MAX_SIDE 200
#define MAX_CODES 4

/* A symbol's modules; a linear one has one row, and rows of others are that many modules high. */
typedef struct
{
  char text[64];
  guint columns, rows, row_height;
  guint8 dark[MAX_SIDE][MAX_SIDE];
} Symbol;

/* A symbol in a scene: from pixels to modules. */
typedef struct
{
  const Symbol *symbol;
  double x, y, xx, xy, yx, yy, height;
} Placed;

typedef struct
{
  gint width, height;
  guint8 *pixels;
  guint n;
  Placed codes[MAX_CODES];
} Scene;

typedef struct
{
  guint codes, boxes, found, whole;
  gint64 finder, reader, zbar;
} Score;

/* The processor's time that all threads took, in us, and processes that they started and that have
 * ended: other programs do not count. */
static gint64
now (void)
{
  struct timespec time;
  struct rusage ended;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  getrusage (RUSAGE_CHILDREN, &ended);
  const gint64 seconds = (gint64) time.tv_sec + ended.ru_utime.tv_sec + ended.ru_stime.tv_sec;
  return seconds * 1000000 + time.tv_nsec / 1000 + ended.ru_utime.tv_usec + ended.ru_stime.tv_usec;
}

/* Lines of hexadecimal digits, a bit a module. */
static gboolean
draw_symbol (Symbol *symbol, const char *kind)
{
  g_autofree char *command = g_strdup_printf ("zint -b %s -d '%s' --dump", kind, symbol->text),
                  *out = NULL;
  if (!g_spawn_command_line_sync (command, &out, NULL, NULL, NULL))
    return FALSE;
  g_auto (GStrv) lines = g_strsplit (g_strchomp (out), "\n", -1);
  symbol->columns = 0;
  symbol->row_height = MAX (symbol->row_height, 1);
  for (symbol->rows = 0; lines[symbol->rows] != NULL && symbol->rows < MAX_SIDE; symbol->rows++) {
    guint bit = 0;
    for (const char *c = lines[symbol->rows]; *c != '\0'; c++)
      for (guint i = 0; i < 4 && g_ascii_isxdigit (*c) && bit < MAX_SIDE; i++, bit++)
        if ((symbol->dark[symbol->rows][bit] = g_ascii_xdigit_value (*c) >> (3 - i) & 1))
          symbol->columns = MAX (symbol->columns, bit + 1);
  }
  return symbol->columns > 0;
}

static gboolean
make_symbol (GRand *random, Symbol *symbol)
{
  static const char *const kinds[] = { "QRCODE", "QRCODE", "QRCODE", "EANX", "CODE128", "CODE39" };
  const guint kind = (guint) g_rand_int_range (random, 0, G_N_ELEMENTS (kinds));
  memset (symbol, 0, sizeof *symbol);
  if (kind < 3) {
    g_snprintf (symbol->text, sizeof symbol->text, "https://example.com/%08x", g_rand_int (random));
  } else if (kind == 3) {
    guint sum = 0;
    for (guint i = 0; i < 12; i++)
      sum +=
        (guint) ((symbol->text[i] = (char) ('0' + g_rand_int_range (random, i == 0, 10))) - '0')
        * (i % 2 ? 3 : 1);
    if (!draw_symbol (symbol, "EANX"))
      return FALSE;
    symbol->text[12] = (char) ('0' + (10 - sum % 10) % 10);
    return TRUE;
  } else {
    g_snprintf (symbol->text, sizeof symbol->text, "ITEM%05d",
                g_rand_int_range (random, 0, 100000));
  }
  return draw_symbol (symbol, kinds[kind]);
}

/* What there is at a place of @code, in modules: 0 dark, 1 light, -1 not its paper. */
static int
ink (const Placed *code, double x, double y)
{
  const double dx = x - code->x, dy = y - code->y, u = dx * code->xx + dy * code->xy,
               v = dx * code->yx + dy * code->yy;
  const double columns = code->symbol->columns, rows = code->height;
  const double margin = code->symbol->rows > 1 ? 4 : 10;
  if (fabs (u) > columns / 2 + margin || fabs (v) > rows / 2 + 4)
    return -1;
  const double column = floor (u + columns / 2),
               row = code->symbol->rows > 1 ? floor ((v + rows / 2) / code->symbol->row_height) : 0;
  if (column < 0 || column >= columns || fabs (v) >= rows / 2)
    return 1;
  return !code->symbol->dark[(guint) row][(guint) column];
}

static void
fill (Scene *scene, gint left, gint top, gint right, gint bottom, gint value)
{
  for (gint y = MAX (top, 0); y < MIN (bottom, scene->height); y++)
    for (gint x = MAX (left, 0); x < MIN (right, scene->width); x++)
      scene->pixels[y * scene->width + x] = (guint8) CLAMP (value, 0, 255);
}

/* Boxes, lines of something like text, and slats. */
static void
draw_things (GRand *random, Scene *scene)
{
  fill (scene, 0, 0, scene->width, scene->height, g_rand_int_range (random, 60, 200));
  for (guint i = 0; i < 40; i++) {
    const gint x = g_rand_int_range (random, -100, scene->width),
               y = g_rand_int_range (random, -100, scene->height);
    const gint w = g_rand_int_range (random, 20, 300), h = g_rand_int_range (random, 20, 300),
               gray = g_rand_int_range (random, 20, 235);
    fill (scene, x, y, x + w, y + h, gray);
    for (gint row = y + 8; i % 3 == 0 && row < y + h - 10; row += 14)
      for (gint at = x + 6; at < x + w - 6;) {
        const gint next = at + g_rand_int_range (random, 2, 9);
        fill (scene, at, row, next - 1, row + g_rand_int_range (random, 4, 10), 255 - gray);
        at = next;
      }
    for (gint at = x; i % 7 == 1 && at < x + w; at += 12)
      fill (scene, at, y, at + 5, y + h, 235 - gray);
  }
}

static void
draw_code (Scene *scene, const Placed *code, double light)
{
  for (gint y = 0; y < scene->height; y++)
    for (gint x = 0; x < scene->width; x++) {
      guint8 *pixel = &scene->pixels[y * scene->width + x];
      double sum = 0;
      if (ink (code, x + 0.5, y + 0.5) < 0)
        continue;
      for (guint i = 0; i < 16; i++)
        sum += ink (code, x + (i % 4 + 0.5) / 4, y + (i / 4 + 0.5) / 4) == 0 ? 0.12 : 1;
      *pixel = (guint8) (sum / 16 * light);
    }
}

/* A Gaussian of @sigma pixels, one way at a time. */
static void
blur (Scene *scene, double sigma)
{
  const gint n = scene->width * scene->height, steps[] = { 1, scene->width };
  g_autofree guint8 *from = g_malloc ((gsize) n);
  double weights[9], all = 0;
  for (gint i = -4; i <= 4; i++)
    all += weights[i + 4] = exp (-i * i / (2 * sigma * sigma));
  for (guint way = 0; way < 2; way++) {
    memcpy (from, scene->pixels, (gsize) n);
    for (gint at = 0; at < n; at++) {
      double sum = 0;
      for (gint i = -4; i <= 4; i++)
        sum += weights[i + 4] * from[CLAMP (at + i * steps[way], 0, n - 1)];
      scene->pixels[at] = (guint8) (sum / all);
    }
  }
}

static void
light_and_noise (GRand *random, Scene *scene)
{
  const double slope_x = g_rand_double_range (random, -0.4, 0.4),
               slope_y = g_rand_double_range (random, -0.3, 0.3);
  for (gint y = 0; y < scene->height; y++)
    for (gint x = 0; x < scene->width; x++) {
      guint8 *pixel = &scene->pixels[y * scene->width + x];
      const double noise =
        g_rand_double (random) + g_rand_double (random) + g_rand_double (random) - 1.5;
      const double light = 1 + slope_x * ((double) x / scene->width - 0.5)
                           + slope_y * ((double) y / scene->height - 0.5);
      *pixel = (guint8) CLAMP (*pixel * light + noise * 8, 0, 255);
    }
}

static void
place_code (GRand *random, const Symbol *symbol, double x, double y, double module, double angle,
            Placed *code)
{
  const double shear = g_rand_double_range (random, -0.15, 0.15),
               squeeze = g_rand_double_range (random, 0.85, 1);
  const double c = cos (angle) / module, s = sin (angle) / module;
  *code = (Placed){ symbol,
                    x,
                    y,
                    c + shear * s,
                    s - shear * c,
                    -s / squeeze,
                    c / squeeze,
                    g_rand_double_range (random, 25, 50) };
  if (symbol->rows > 1)
    code->height = symbol->rows * symbol->row_height;
}

/* A scene with codes of 70 to 330 pixels, or one that @fills the picture. */
static void
make_scene (GRand *random, const Symbol *symbols, guint n_symbols, gboolean fills, Scene *scene)
{
  scene->width = fills ? 640 : 1280;
  scene->height = fills ? 480 : 960;
  scene->pixels = g_realloc (scene->pixels, (gsize) (scene->width * scene->height));
  scene->n = fills ? 1 : MAX_CODES;
  draw_things (random, scene);
  for (guint i = 0; i < scene->n; i++) {
    const Symbol *symbol = &symbols[g_rand_int_range (random, 0, (gint32) n_symbols)];
    const double size = fills ? (symbol->rows > 1 ? 400 : 560)
                              : g_rand_double_range (random, symbol->columns < 60 ? 70 : 130, 330);
    const double x = fills ? 320 : 320 + (i % 2) * 640 + g_rand_double_range (random, -80, 80);
    const double y = fills ? 240 : 240 + (i / 2) * 480 + g_rand_double_range (random, -40, 40);
    const double angle =
      fills ? g_rand_double_range (random, -0.1, 0.1) : g_rand_double_range (random, 0, 2 * G_PI);
    place_code (random, symbol, x, y, size / symbol->columns, angle, &scene->codes[i]);
    draw_code (scene, &scene->codes[i], g_rand_double_range (random, 120, 245));
  }
  blur (scene, g_rand_double_range (random, 0.4, 1.3));
  light_and_noise (random, scene);
}

static gboolean
is_there (const Scene *scene, const char *text, gboolean seen[MAX_CODES])
{
  for (guint i = 0; i < scene->n; i++)
    if (!seen[i] && strcmp (scene->codes[i].symbol->text, text) == 0)
      return seen[i] = TRUE;
  return FALSE;
}

static void
run_zbar (zbar_image_scanner_t *scanner, const Scene *scene, Score *score)
{
  gboolean seen[MAX_CODES] = { FALSE };
  zbar_image_t *image = zbar_image_create ();
  zbar_image_set_format (image, zbar_fourcc ('Y', '8', '0', '0'));
  zbar_image_set_size (image, (guint) scene->width, (guint) scene->height);
  zbar_image_set_data (image, scene->pixels, (gulong) (scene->width * scene->height), NULL);
  const gint64 start = now ();
  zbar_scan_image (scanner, image);
  score->zbar += now () - start;
  for (const zbar_symbol_t *symbol = zbar_image_first_symbol (image); symbol != NULL;
       symbol = zbar_symbol_next (symbol))
    score->whole += is_there (scene, zbar_symbol_get_data (symbol), seen);
  zbar_image_destroy (image);
}

static void
run_both (SlPredictor *predictor, SlRegionReader *reader, const Scene *scene, Score *score)
{
  static SlReadCode code;
  gboolean seen[MAX_CODES] = { FALSE };
  const SlLuma luma = { { scene->pixels }, { scene->width }, 1, -1, scene->width, scene->height };
  g_autoptr (GBytes) bytes =
    g_bytes_new_static (scene->pixels, (gsize) (scene->width * scene->height));
  const gint64 start = now ();
  g_autoptr (SlPredictions) found = sl_predictor_predict_bytes (
    predictor, "GRAY8", (guint) scene->width, (guint) scene->height, bytes, NULL);
  const gint64 middle = now ();
  SlObject *const *objects = sl_predictions_get_objects (found);
  for (guint i = 0; objects[i] != NULL; i++) {
    const SlBox *box = sl_object_get_box (objects[i]);
    const double corners[4] = { box->x, box->y, box->x + box->width, box->y + box->height };
    const guint kinds = sl_region_reader_kinds (reader, sl_object_get_label (objects[i]));
    score->boxes++;
    if (kinds != 0
        && sl_region_reader_read (reader, &luma, corners, kinds, G_MAXINT64, &code)
             == SL_SCAN_FOUND)
      score->found += is_there (scene, (const char *) code.bytes, seen);
  }
  score->finder += middle - start;
  score->reader += now () - middle;
}

/* What processes of the reader took, which is known at their end. */
static void
end_reader (SlRegionReader *reader, Score *score)
{
  const gint64 start = now ();
  sl_region_reader_free (reader);
  score->reader += now () - start;
}

/* Symbologies by zint's names; texts are of @n of @letters. */
static const struct
{
  const char *name, *zint, *letters;
  guint n, row_height, kinds;
} symbologies[] = {
  { "QR", "QRCODE", "abcdefghijklmnop", 20, 1, SL_READ_QR | SL_READ_MATRIX },
  { "Micro QR", "97", "0123456789", 12, 1, SL_READ_QR | SL_READ_MATRIX },
  { "rMQR", "145", "0123456789", 20, 1, SL_READ_QR | SL_READ_MATRIX },
  { "Data Matrix", "71", "abcdefghijklmnop", 20, 1, SL_READ_QR | SL_READ_MATRIX },
  { "Aztec", "92", "abcdefghijklmnop", 20, 1, SL_READ_QR | SL_READ_MATRIX },
  { "PDF417", "55", "abcdefghijklmnop", 20, 3, SL_READ_STACKED | SL_READ_LINEAR },
  { "EAN-13", "13", "123456789", 12, 1, SL_READ_LINEAR },
  { "EAN-8", "13", "123456789", 7, 1, SL_READ_LINEAR },
  { "UPC-E", "37", "1", 6, 1, SL_READ_LINEAR },
  { "Code 128", "20", "ABCDEFGHIJKLMNOP", 10, 1, SL_READ_LINEAR },
  { "Code 39", "8", "ABCDEFGHIJKLMNOP", 8, 1, SL_READ_LINEAR },
  { "Code 93", "25", "ABCDEFGHIJKLMNOP", 10, 1, SL_READ_LINEAR },
  { "ITF", "3", "0123456789", 12, 1, SL_READ_LINEAR },
  { "Codabar", "18", "0123456789", 10, 1, SL_READ_LINEAR },
  { "DataBar", "29", "123456789", 13, 1, SL_READ_LINEAR },
  { "DataBar Expanded", "31", "0123456789", 13, 1, SL_READ_LINEAR },
};

static gboolean
make_of (GRand *random, guint row, Symbol *symbol)
{
  const char *const letters = symbologies[row].letters;
  char text[64] = "";
  memset (symbol, 0, sizeof *symbol);
  symbol->row_height = symbologies[row].row_height;
  for (guint i = 0; i < symbologies[row].n; i++)
    text[i] = letters[g_rand_int_range (random, 0, (gint32) strlen (letters))];
  const gboolean expanded = strcmp (symbologies[row].zint, "31") == 0,
                 codabar = strcmp (symbologies[row].zint, "18") == 0;
  g_snprintf (symbol->text, sizeof symbol->text, "%s%s%s",
              expanded  ? "[10]"
              : codabar ? "A"
                        : "",
              text, codabar ? "B" : "");
  if (!draw_symbol (symbol, symbologies[row].zint))
    return FALSE;
  g_strlcpy (symbol->text, text, sizeof symbol->text);
  return TRUE;
}

/* x0, y0, x1, y1 around the modules of @code. */
static void
find_box (const Placed *code, double box[4])
{
  const double det = code->xx * code->yy - code->xy * code->yx, u = code->symbol->columns / 2.0,
               v = code->height / 2;
  const double across = (fabs (code->yy * u) + fabs (code->xy * v)) / fabs (det);
  const double down = (fabs (code->yx * u) + fabs (code->xx * v)) / fabs (det);
  box[0] = code->x - across;
  box[1] = code->y - down;
  box[2] = code->x + across;
  box[3] = code->y + down;
}

/* How many of the scene's codes @reader reads; @wrong: of which it says something else. */
static guint
count_read (SlRegionReader *reader, const Scene *scene, guint kinds, guint *wrong)
{
  static SlReadCode code;
  const SlLuma luma = { { scene->pixels }, { scene->width }, 1, -1, scene->width, scene->height };
  guint n = 0;
  for (guint i = 0; i < scene->n; i++) {
    double box[4];
    find_box (&scene->codes[i], box);
    if (sl_region_reader_read (reader, &luma, box, kinds, G_MAXINT64, &code) != SL_SCAN_FOUND)
      continue;
    const gboolean right = strstr ((const char *) code.bytes, scene->codes[i].symbol->text) != NULL;
    n += right;
    *wrong += !right;
  }
  return n;
}

/* Numbers of @reader (nullable: all) for scenes of @row, which are the same for each: read, read
 * wrong, and ms a code. */
static gboolean
run_symbology (guint row, const char *name, guint n_scenes, guint32 seed)
{
  GRand *random = g_rand_new_with_seed (seed);
  Scene scene = { 0 };
  guint n = 0, wrong = 0;
  gint64 drawn = 0;
  g_autofree Symbol *symbols = g_new (Symbol, 12);
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < 12; i++)
    ok = make_of (random, row, &symbols[i]);
  const gint64 start = now ();
  SlRegionReader *reader = sl_region_reader_new (name);
  for (guint i = 0; ok && reader != NULL && i < n_scenes; i++) {
    const gint64 before = now ();
    make_scene (random, symbols, 12, FALSE, &scene);
    drawn += now () - before;
    n += count_read (reader, &scene, symbologies[row].kinds, &wrong);
  }
  sl_region_reader_free (reader);
  printf (" %u | %u | %.2f |", n, wrong,
          (double) (now () - start - drawn) / (1000.0 * n_scenes * MAX_CODES));
  fflush (stdout);
  g_free (scene.pixels);
  g_rand_free (random);
  return ok;
}

static int
run_symbologies (guint n_scenes, guint32 seed)
{
  static const char *const readers[] = { "zbar", "zxing", NULL };
  for (guint row = 0; row < G_N_ELEMENTS (symbologies); row++) {
    printf ("| %s | %u |", symbologies[row].name, n_scenes * MAX_CODES);
    for (guint r = 0; r < G_N_ELEMENTS (readers); r++)
      if (!run_symbology (row, readers[r], n_scenes, seed))
        return 2;
    printf ("\n");
  }
  return 0;
}

static void
write_picture (const Scene *scene, const char *path)
{
  FILE *file = fopen (path, "wb");
  if (file == NULL)
    return;
  fprintf (file, "P5 %d %d 255\n", scene->width, scene->height);
  fwrite (scene->pixels, 1, (gsize) (scene->width * scene->height), file);
  fclose (file);
}

int
main (int argc, char **argv)
{
  if (argc > 1 && strcmp (argv[1], "--symbologies") == 0)
    return run_symbologies (argc > 2 ? (guint) atoi (argv[2]) : 25,
                            argc > 3 ? (guint32) atoi (argv[3]) : 1);
  const guint n_scenes = argc > 2 ? (guint) atoi (argv[2]) : 100, n_symbols = 120;
  GRand *random = g_rand_new_with_seed (argc > 3 ? (guint32) atoi (argv[3]) : 1);
  g_autofree Symbol *symbols = g_new (Symbol, n_symbols);
  g_autoptr (SlPredictor) predictor = argc > 1 ? sl_predictor_new (argv[1], NULL) : NULL;
  zbar_image_scanner_t *scanner = zbar_image_scanner_create ();
  Scene scene = { 0 };
  zbar_image_scanner_set_config (scanner, ZBAR_SQCODE, ZBAR_CFG_ENABLE, 0);
  for (guint i = 0; i < n_symbols; i++)
    if (predictor == NULL || !make_symbol (random, &symbols[i])) {
      fprintf (
        stderr,
        "usage: bench-read FINDER.tflite [SCENES [SEED [PICTURE.pgm]]]; the program zint must be "
        "installed\n");
      return 2;
    }
  for (guint fills = 0; fills < 2; fills++) {
    Score score = { 0 };
    SlRegionReader *reader = sl_region_reader_new (NULL);
    for (guint i = 0; i < n_scenes; i++) {
      make_scene (random, symbols, n_symbols, fills == 1, &scene);
      if (i == 0 && fills == 0 && argc > 4)
        write_picture (&scene, argv[4]);
      run_zbar (scanner, &scene, &score);
      run_both (predictor, reader, &scene, &score);
      score.codes += scene.n;
    }
    end_reader (reader, &score);
    const double ms = 1e-3 / n_scenes, ours = (double) (score.finder + score.reader);
    printf (
      "%s: %u codes; zbar on the whole picture read %u in %.2f ms a picture; finder and reader %u "
      "(%.2f times as many) in %.2f + %.2f ms (%.2f of the time), %u boxes\n",
      fills ? "640x480, filled by a code" : "1280x960 with four codes", score.codes, score.whole,
      (double) score.zbar * ms, score.found, (double) score.found / MAX (score.whole, 1),
      (double) score.finder * ms, (double) score.reader * ms, ours / (double) score.zbar,
      score.boxes);
  }
  zbar_image_scanner_destroy (scanner);
  g_free (scene.pixels);
  g_rand_free (random);
  return 0;
}
