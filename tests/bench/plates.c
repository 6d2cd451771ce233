/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-plates MODEL FORMATS [PLATES] [FRAMES]: how many characters and plates a recogniser reads
 * on drawn number plates, seen at an angle: in the plate's box, between its corners, and with votes
 * of all frames; each with and without formats. The corners are those that were drawn, moved by up
 * to a pixel, as a detector would. A plate is seen on FRAMES frames, each with its own angle and
 * noise.
 */
#include <cairo.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <math.h>
#include <pango/pangocairo.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/corners.h"
#include "plugins/elements.h"
#include "plugins/meta/predictions.h"
#include "tests/support/perspective.h"

#define WIDTH 400
#define HEIGHT 240
#define PLATE_WIDTH 416
#define PLATE_HEIGHT 88
#define CAPS "video/x-raw,format=RGB,width=400,height=240,framerate=25/1"
#define FRAME (40 * GST_MSECOND)

/* @angle: degrees that the plate is turned by at most; @slant: by how much one end is smaller;
 * @width: of the plate in pixels; @blur: passes of a box of 3; @noise, @light: of the pixels */
typedef struct
{
  const char *name;
  double angle, slant, width;
  guint blur;
  double noise, light;
} Scene;

static const Scene scenes[] = {
  { "front, day", 2, 0.02, 200, 0, 4, 1 },       { "angle, day", 12, 0.25, 200, 0, 4, 1 },
  { "steep angle, day", 25, 0.4, 200, 0, 4, 1 }, { "angle, small", 12, 0.25, 100, 0, 4, 1 },
  { "angle, blurred", 12, 0.25, 160, 4, 4, 1 },  { "angle, night", 12, 0.25, 160, 1, 14, 0.35 },
};

static const struct
{
  const char *name;
  gboolean corners, votes;
} ways[] = { { "box", FALSE, FALSE },
             { "corners", TRUE, FALSE },
             { "corners, votes", TRUE, TRUE } };

typedef struct
{
  guint characters, right, plates, whole;
} Count;

/* Plates of two letters, two digits and three letters, as in Great Britain. */
static void
make_text (GRand *rand, char text[8])
{
  static const char letters[] = "ABCDEFGHJKLMNOPRSTUVWXY";
  for (guint i = 0; i < 7; i++)
    text[i] = i == 2 || i == 3 ? (char) ('0' + g_rand_int_range (rand, 0, 10))
                               : letters[g_rand_int_range (rand, 0, sizeof letters - 1)];
  text[7] = '\0';
}

static cairo_surface_t *
draw_plate (const char *text)
{
  cairo_surface_t *surface =
    cairo_image_surface_create (CAIRO_FORMAT_RGB24, PLATE_WIDTH, PLATE_HEIGHT);
  cairo_t *cairo = cairo_create (surface);
  PangoLayout *layout = pango_cairo_create_layout (cairo);
  PangoFontDescription *font = pango_font_description_from_string ("Sans Bold");
  g_autofree char *spaced = g_strdup_printf ("%.4s %s", text, text + 4);
  int width, height;
  pango_font_description_set_absolute_size (font, 68 * PANGO_SCALE);
  pango_layout_set_font_description (layout, font);
  pango_layout_set_text (layout, spaced, -1);
  pango_layout_get_pixel_size (layout, &width, &height);
  cairo_set_source_rgb (cairo, 0.95, 0.94, 0.9);
  cairo_paint (cairo);
  cairo_set_source_rgb (cairo, 0.1, 0.1, 0.1);
  cairo_set_line_width (cairo, 4);
  cairo_rectangle (cairo, 2, 2, PLATE_WIDTH - 4, PLATE_HEIGHT - 4);
  cairo_stroke (cairo);
  const double scale = fmin (1, (PLATE_WIDTH - 30.0) / width);
  cairo_translate (cairo, (PLATE_WIDTH - width * scale) / 2, (PLATE_HEIGHT - height) / 2.0);
  cairo_scale (cairo, scale, 1);
  pango_cairo_show_layout (cairo, layout);
  pango_font_description_free (font);
  g_object_unref (layout);
  cairo_destroy (cairo);
  cairo_surface_flush (surface);
  return surface;
}

static double
between (GRand *rand, double most)
{
  return g_rand_double_range (rand, -most, most + 1e-9);
}

/* Corners of a plate seen at an angle of the scene, inside the frame. */
static SlCorners
place_plate (const Scene *scene, GRand *rand)
{
  const double turn = between (rand, scene->angle) * G_PI / 180,
               slant = between (rand, scene->slant),
               w = scene->width * (1 - 0.4 * fabs (slant)) / 2,
               h = scene->width * PLATE_HEIGHT / PLATE_WIDTH / 2,
               x = WIDTH / 2 + between (rand, 40), y = HEIGHT / 2 + between (rand, 40),
               shear = between (rand, scene->slant) * h;
  const double flat[4][2] = { { -w, -h * (1 + slant) - shear },
                              { w, -h * (1 - slant) + shear },
                              { w, h * (1 - slant) + shear },
                              { -w, h * (1 + slant) - shear } };
  SlCorners corners;
  for (guint i = 0; i < 4; i++) {
    corners.at[i][0] = x + flat[i][0] * cos (turn) - flat[i][1] * sin (turn);
    corners.at[i][1] = y + flat[i][0] * sin (turn) + flat[i][1] * cos (turn);
  }
  return corners;
}

static void
find_map (const SlCorners *corners, double map[8])
{
  static const double ends[4][2] = {
    { 0, 0 }, { PLATE_WIDTH, 0 }, { PLATE_WIDTH, PLATE_HEIGHT }, { 0, PLATE_HEIGHT }
  };
  perspective_solve (corners->at, ends, map);
}

static gboolean
is_inside (double u, double v)
{
  return u >= 0 && u < PLATE_WIDTH && v >= 0 && v < PLATE_HEIGHT;
}

/* The mean of four by four points of the plate in the pixel; what is beside it around it. */
static double
shade (cairo_surface_t *plate, const double m[8], guint x, guint y)
{
  const guint8 *pixels = cairo_image_surface_get_data (plate);
  const int stride = cairo_image_surface_get_stride (plate);
  const double beside = 80 + (x / 16 + y / 16) % 2 * 20;
  double sum = 0;
  for (guint i = 0; i < 16; i++) {
    double u, v;
    perspective_apply (m, x + (i % 4 + 0.5) / 4, y + (i / 4 + 0.5) / 4, &u, &v);
    if (i == 0 && !is_inside (u, v) && !is_inside (u + 9, v + 9) && !is_inside (u - 9, v - 9))
      return beside;
    sum += is_inside (u, v) ? pixels[(int) v * stride + 4 * (int) u + 1] : beside;
  }
  return sum / 16;
}

static void
blur (double *picture, double *copy)
{
  memcpy (copy, picture, WIDTH * HEIGHT * sizeof *picture);
  for (guint y = 1; y + 1 < HEIGHT; y++)
    for (guint x = 1; x + 1 < WIDTH; x++) {
      double sum = 0;
      for (guint i = 0; i < 9; i++)
        sum += copy[(y + i / 3 - 1) * WIDTH + x + i % 3 - 1];
      picture[y * WIDTH + x] = sum / 9;
    }
}

static GstBuffer *
make_frame (const Scene *scene, cairo_surface_t *plate, const SlCorners *corners, GRand *rand)
{
  static double picture[WIDTH * HEIGHT], copy[WIDTH * HEIGHT];
  double map[8];
  GstMapInfo info;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * 3, NULL);
  find_map (corners, map);
  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++)
      picture[y * WIDTH + x] = shade (plate, map, x, y);
  for (guint i = 0; i < scene->blur; i++)
    blur (picture, copy);
  gst_buffer_map (buffer, &info, GST_MAP_WRITE);
  for (guint i = 0; i < WIDTH * HEIGHT * 3; i++) {
    double noise = 0;
    for (guint k = 0; k < 2; k++)
      noise += between (rand, scene->noise);
    info.data[i] = (guint8) CLAMP (picture[i / 3] * scene->light + noise * 1.22, 0, 255);
  }
  gst_buffer_unmap (buffer, &info);
  return buffer;
}

/* What a detector of plates gives: the box around the corners, and these as keypoints. */
static void
add_plate (GstBuffer *buffer, const SlCorners *corners, gint32 id, GRand *rand)
{
  SlPoint points[4];
  SlObjectView object = {
    .confidence = 0.9, .label = "plate", .object_id = id, .n_points = 4, .points = points
  };
  double box[4] = { WIDTH, HEIGHT, 0, 0 };
  for (guint i = 0; i < 4; i++) {
    const double x = corners->at[i][0] + between (rand, 1),
                 y = corners->at[i][1] + between (rand, 1);
    points[i] = (SlPoint){ x / WIDTH, y / HEIGHT, 0.9 };
    box[0] = fmin (box[0], x);
    box[1] = fmin (box[1], y);
    box[2] = fmax (box[2], x);
    box[3] = fmax (box[3], y);
  }
  object.x = (gint) box[0];
  object.y = (gint) box[1];
  object.w = (gint) (box[2] - box[0]);
  object.h = (gint) (box[3] - box[1]);
  object.x_min = box[0] / WIDTH;
  object.x_max = box[2] / WIDTH;
  object.y_min = box[1] / HEIGHT;
  object.y_max = box[3] / HEIGHT;
  const SlPredictionView prediction = { .width = WIDTH,
                                        .height = HEIGHT,
                                        .n_objects = 1,
                                        .objects = &object,
                                        .skeleton = &sl_skeleton_corners };
  sl_buffer_add_prediction (buffer, &prediction, NULL);
}

/* Characters of @read, without separators, that are those of @text by the least edit distance. */
static guint
count_right (const char *text, const char *read)
{
  const gsize n = strlen (text), m = strlen (read);
  g_autofree guint *row = g_new0 (guint, (m + 1) * (n + 1));
  for (gsize i = 1; i <= n; i++)
    for (gsize k = 1; k <= m; k++) {
      const guint same = row[(i - 1) * (m + 1) + k - 1] + (text[i - 1] == read[k - 1]);
      row[i * (m + 1) + k] = MAX (same, MAX (row[(i - 1) * (m + 1) + k], row[i * (m + 1) + k - 1]));
    }
  return row[n * (m + 1) + m];
}

static void
count (Count *count, const char *text, const SlTextView *read)
{
  g_autoptr (GString) letters = g_string_new (NULL);
  for (guint i = 0; read != NULL && i < read->n; i++)
    if (read->characters[i].character < 128 && g_ascii_isalnum (read->characters[i].character))
      g_string_append_c (letters, g_ascii_toupper ((char) read->characters[i].character));
  count->characters += (guint) strlen (text);
  count->right += count_right (text, letters->str);
  count->plates++;
  count->whole += strcmp (text, letters->str) == 0;
}

/* One way to a text: sltext behind a recogniser. */
typedef struct
{
  GstHarness *voter;
  Count count;
} Ending;

static GstHarness *
open_line (const char *launch)
{
  GstHarness *harness = gst_harness_new_parse (launch);
  gst_harness_set_src_caps_str (harness, CAPS);
  return harness;
}

static void
open_endings (guint way, const char *formats, Ending endings[2])
{
  for (guint i = 0; i < 2; i++) {
    g_autofree char *launch = g_strdup_printf ("sltext memory=%u %s%s", ways[way].votes ? 100 : 1,
                                               i == 1 ? "formats=" : "", i == 1 ? formats : "");
    endings[i] = (Ending){ .voter = open_line (launch) };
  }
}

static GstBuffer *
push_pull (GstHarness *harness, GstBuffer *frame)
{
  g_assert (gst_harness_push (harness, frame) == GST_FLOW_OK);
  return gst_harness_pull (harness);
}

/* @frame: with what the recogniser read; @counts: whether the text is compared with @text. */
static void
end_frame (Ending *ending, SlPredictionReader *reader, GstBuffer *frame, const char *text,
           gboolean counts)
{
  SlPredictionView prediction = { .width = WIDTH, .height = HEIGHT };
  g_autoptr (GstBuffer) out = push_pull (ending->voter, gst_buffer_copy (frame));
  sl_prediction_reader_read (reader, out, &prediction);
  if (counts)
    count (&ending->count, text, prediction.n_objects > 0 ? prediction.objects[0].text : NULL);
}

/* What is measured of a scene: recognisers of boxes and of corners, and what follows them. */
typedef struct
{
  GstHarness *readers[2];
  Ending endings[G_N_ELEMENTS (ways)][2];
  SlPredictionReader reader;
} Bench;

static void
read_plate (Bench *bench, GstBuffer *frame, const char *text, gboolean last)
{
  for (guint r = 0; r < 2; r++) {
    g_autoptr (GstBuffer) out = push_pull (bench->readers[r], gst_buffer_copy (frame));
    for (guint way = 0; way < G_N_ELEMENTS (ways); way++)
      for (guint i = 0; ways[way].corners == (r == 1) && i < 2; i++)
        end_frame (&bench->endings[way][i], &bench->reader, out, text, !ways[way].votes || last);
  }
}

static void
measure (const Scene *scene, Bench *bench, guint plates, guint frames)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  for (guint i = 0; i < plates; i++) {
    char text[8];
    make_text (rand, text);
    cairo_surface_t *plate = draw_plate (text);
    for (guint k = 0; k < frames; k++) {
      const SlCorners corners = place_plate (scene, rand);
      g_autoptr (GstBuffer) frame = make_frame (scene, plate, &corners, rand);
      GST_BUFFER_PTS (frame) = (i * frames + k) * FRAME;
      add_plate (frame, &corners, (gint32) i + 1, rand);
      read_plate (bench, frame, text, k + 1 == frames);
    }
    cairo_surface_destroy (plate);
  }
}

static void
run_scene (const Scene *scene, const char *model, const char *formats, guint plates, guint frames)
{
  Bench bench;
  sl_prediction_reader_init (&bench.reader);
  for (guint r = 0; r < 2; r++) {
    g_autofree char *launch =
      g_strdup_printf ("slpredict model=%s inference-region=roi-list drop=never %s", model,
                       r == 1 ? "object-alignment=corners" : "");
    bench.readers[r] = open_line (launch);
  }
  for (guint way = 0; way < G_N_ELEMENTS (ways); way++)
    open_endings (way, formats, bench.endings[way]);
  measure (scene, &bench, plates, frames);
  for (guint way = 0; way < G_N_ELEMENTS (ways); way++) {
    const Count *plain = &bench.endings[way][0].count, *formed = &bench.endings[way][1].count;
    printf ("%-16s  %-14s  %10.3f  %6.3f  %10.3f  %6.3f\n", scene->name, ways[way].name,
            (double) plain->right / plain->characters, (double) plain->whole / plain->plates,
            (double) formed->right / formed->characters, (double) formed->whole / formed->plates);
    for (guint i = 0; i < 2; i++)
      gst_harness_teardown (bench.endings[way][i].voter);
  }
  fflush (stdout);
  for (guint r = 0; r < 2; r++)
    gst_harness_teardown (bench.readers[r]);
  sl_prediction_reader_clear (&bench.reader);
}

int
main (int argc, char **argv)
{
  if (argc < 3) {
    fprintf (stderr, "usage: bench-plates MODEL FORMATS [PLATES] [FRAMES]\n");
    return 2;
  }
  const guint plates = argc > 3 ? (guint) MAX (atoi (argv[3]), 1) : 20,
              frames = argc > 4 ? (guint) MAX (atoi (argv[4]), 1) : 10;
  sl_elements_init (&argc, &argv);
  sl_elements_register_static ();
  printf ("%-16s  %-14s  %10s  %6s  %s\n", "scene", "read", "characters", "plates",
          "the same with formats");
  for (guint i = 0; i < G_N_ELEMENTS (scenes); i++)
    run_scene (&scenes[i], argv[1], argv[2], plates, frames);
  return 0;
}
