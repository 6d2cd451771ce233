/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loops over found objects as torchvision's Mask R-CNN and Keypoint R-CNN export them, of the nodes
 * by which they are known: masks stay over their boxes, and points are where each heat map,
 * enlarged in double precision, is highest.
 */
#include <math.h>
#include <string.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })
#define OBJECTS 6
#define POINTS 3
#define HEIGHT 5
#define WIDTH 7
#define STEPS 32 /* most places a pixel that are looked at */

/* A loop's node, whose body has @nodes and as many states as @outputs names. */
static GByteArray *
loop (GByteArray *body, const char *inputs, const char *outputs)
{
  GByteArray *node = sl_onnx_node ("Loop", inputs, outputs, NULL);
  const guint n = strchr (outputs, ',') != NULL ? 2 : 1;
  static const char *const names[] = { "i", "go", "s0", "s1" }, *const results[] = { "go", "r0",
                                                                                     "r1" };
  for (guint i = 0; i < n + 2; i++)
    sl_onnx_message (body, 11,
                     sl_onnx_edge (names[i],
                                   i == 0   ? SL_ONNX_INT64
                                   : i == 1 ? SL_ONNX_BOOL
                                            : SL_ONNX_FLOAT,
                                   0, NULL));
  for (guint i = 0; i < n + 1; i++)
    sl_onnx_message (body, 12,
                     sl_onnx_edge (results[i], i == 0 ? SL_ONNX_BOOL : SL_ONNX_FLOAT, 0, NULL));
  sl_onnx_node_graph (node, "body", body);
  return node;
}

static void
test_masks (void)
{
  const gint64 trips = 4;
  double expected[4 * 9];
  OnnxModel m;
  onnx_model_init (&m, 11, 5);
  const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (4, 1, 3, 3));
  const gfloat zero = 0;
  onnx_model_ints (&m, "boxes", 2, DIMS (4, 4), 0, 50);
  sl_onnx_writer_ints (m.writer, "ring", 8, DIMS (0, 0, 1, 1, 0, 0, 1, 1));
  sl_onnx_writer_ints (m.writer, "n", 1, &trips);
  sl_onnx_writer_floats (m.writer, "state", 1, DIMS (1), &zero);
  sl_onnx_writer_node (m.writer, "Pad", "x,ring", "ringed", NULL);
  GByteArray *body = g_byte_array_new ();
  sl_onnx_message (body, 1, sl_onnx_node ("Gather", "ringed,i", "mask", NULL));
  sl_onnx_message (body, 1, sl_onnx_node ("Gather", "boxes,i", "box", NULL));
  sl_onnx_message (body, 1, sl_onnx_node ("Resize", "mask,,,box", "large", NULL));
  sl_onnx_message (body, 1, sl_onnx_node ("Concat", "s0,large", "r0", "axis i 0", NULL));
  sl_onnx_message (m.writer->graph, 1, loop (body, "n,,state", "pasted"));
  sl_onnx_writer_node (m.writer, "Unsqueeze", "pasted", "y", "axes I 1", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    expected[i] = (double) x[i];
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, G_N_ELEMENTS (expected), expected, 0);
  onnx_model_clear (&m);
}

/* A loop that only looks like it: boxes of other rows than masks. */
static void
test_other_loop (void)
{
  const gint64 trips = 4;
  const gfloat zero = 0;
  OnnxModel m;
  onnx_model_init (&m, 11, 5);
  onnx_model_floats (&m, "ringed", 4, DIMS (4, 1, 3, 3));
  onnx_model_ints (&m, "boxes", 2, DIMS (5, 4), 0, 50);
  sl_onnx_writer_ints (m.writer, "n", 1, &trips);
  sl_onnx_writer_floats (m.writer, "state", 1, DIMS (1), &zero);
  GByteArray *body = g_byte_array_new ();
  sl_onnx_message (body, 1, sl_onnx_node ("Gather", "ringed,i", "mask", NULL));
  sl_onnx_message (body, 1, sl_onnx_node ("Gather", "boxes,i", "box", NULL));
  sl_onnx_message (body, 1, sl_onnx_node ("Resize", "mask,,,box", "r0", NULL));
  sl_onnx_message (m.writer->graph, 1, loop (body, "n,,state", "y"));
  sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
  onnx_model_refuse (&m, "the sizes, input 3, are computed from the picture");
  onnx_model_clear (&m);
}

/* Nodes without outputs in the body, and a padding without inputs around, are no reason to look
 * behind their names. */
static void
test_bare_nodes (void)
{
  const gint64 trips = 4;
  const gfloat zero = 0;
  OnnxModel m;
  onnx_model_init (&m, 11, 5);
  onnx_model_floats (&m, "x", 4, DIMS (4, 1, 3, 3));
  onnx_model_ints (&m, "boxes", 2, DIMS (4, 4), 0, 50);
  sl_onnx_writer_ints (m.writer, "n", 1, &trips);
  sl_onnx_writer_floats (m.writer, "state", 1, DIMS (1), &zero);
  GByteArray *body = g_byte_array_new ();
  sl_onnx_message (body, 1, sl_onnx_node ("Gather", "x,i", "", NULL));
  sl_onnx_message (body, 1, sl_onnx_node ("Gather", "x,i", "mask", NULL));
  sl_onnx_message (body, 1, sl_onnx_node ("Gather", "boxes,i", "box", NULL));
  sl_onnx_message (body, 1, sl_onnx_node ("Resize", "mask,,,box", "r0", NULL));
  sl_onnx_message (m.writer->graph, 1, loop (body, "n,,state", "y"));
  sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
  onnx_model_refuse (&m, "the sizes, input 3, are computed from the picture");
  onnx_model_clear (&m);
}

/* Of the pixel @d away. */
static double
cubic (double d)
{
  const double a = -0.75;
  d = fabs (d);
  return d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
         : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                 : 0;
}

static double
value_at (const gfloat *map, double y, double x)
{
  double value = 0;
  const gint row = (gint) floor (y), column = (gint) floor (x);
  for (gint i = row - 1; i < row + 3; i++)
    for (gint k = column - 1; k < column + 3; k++)
      value += cubic (y - i) * cubic (x - k)
               * (double) map[CLAMP (i, 0, HEIGHT - 1) * WIDTH + CLAMP (k, 0, WIDTH - 1)];
  return value;
}

/* The highest of all places of the map enlarged to whole pixels: x, y and the value. */
static void
find_peak (const gfloat *map, double left, double upper, double width, double height,
           double peak[3])
{
  const gint columns = (gint) ceil (width), rows = (gint) ceil (height);
  peak[2] = -INFINITY;
  for (gint i = 0; i < rows; i++)
    for (gint k = 0; k < columns; k++) {
      const double value =
        value_at (map, (i + 0.5) * HEIGHT / rows - 0.5, (k + 0.5) * WIDTH / columns - 0.5);
      if (value <= peak[2])
        continue;
      peak[0] = left + (k + 0.5) * width / columns;
      peak[1] = upper + (i + 0.5) * height / rows;
      peak[2] = value;
    }
}

/* @sizes, @edges: of each object: width and height, left and upper edge. */
static void
add_heat_map_loop (OnnxModel *m, const gfloat (*sizes)[2], const gfloat (*edges)[2])
{
  static const char *const names[] = { "x", "wc", "hc", "w", "h", "left", "upper" };
  const gint64 trips = OBJECTS;
  const gfloat zero = 0;
  gfloat *inputs[4];
  for (guint i = 0; i < 4; i++) {
    inputs[i] = onnx_model_floats (m, names[3 + i], 1, DIMS (OBJECTS));
    for (guint k = 0; k < OBJECTS; k++)
      inputs[i][k] = i < 2 ? sizes[k][i] : edges[k][i - 2];
  }
  sl_onnx_writer_ints (m->writer, "n", 1, &trips);
  sl_onnx_writer_floats (m->writer, "state", 1, DIMS (1), &zero);
  sl_onnx_writer_node (m->writer, "Ceil", "w", "wc", NULL);
  sl_onnx_writer_node (m->writer, "Ceil", "h", "hc", NULL);
  GByteArray *body = g_byte_array_new ();
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *pick = g_strdup_printf ("%s,i", names[i]),
                    *row = g_strdup_printf ("%s_i", names[i]);
    sl_onnx_message (body, 1, sl_onnx_node ("Gather", pick, row, NULL));
  }
  sl_onnx_message (body, 1, sl_onnx_node ("Div", "w_i,wc_i", "across", NULL));
  sl_onnx_message (body, 1, sl_onnx_node ("Div", "h_i,hc_i", "down", NULL));
  sl_onnx_message (body, 1, sl_onnx_node ("Resize", "x_i,,,hc_i", "large", "mode s cubic", NULL));
  sl_onnx_message (body, 1, sl_onnx_node ("Add", "large,across", "r0", NULL));
  sl_onnx_message (body, 1, sl_onnx_node ("Add", "large,down", "r1", NULL));
  sl_onnx_message (m->writer->graph, 1, loop (body, "n,,state,state", "places,values"));
}

static void
test_heat_maps (void)
{
  static const gfloat sizes[OBJECTS][2] = { { 1, 1 },       { 4.5f, 3.25f }, { 30.75f, 12 },
                                            { 100, 80.5f }, { 7, 5 },        { 223.5f, 159.25f } };
  static const gfloat edges[OBJECTS][2] = { { 0, 0 },     { -3, 7.5f }, { 100.25f, 50 },
                                            { 12, 0.5f }, { 1, 2 },     { 40, 3 } };
  for (guint seed = 0; seed < 8; seed++) {
    double places[OBJECTS * 3 * POINTS], values[OBJECTS * POINTS], peak[3] = { 0 };
    OnnxModel m;
    onnx_model_init (&m, 13, seed);
    const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (OBJECTS, POINTS, HEIGHT, WIDTH));
    add_heat_map_loop (&m, sizes, edges);
    for (guint i = 0; i < OBJECTS * POINTS; i++) {
      const guint n = i / POINTS;
      find_peak (x + i * HEIGHT * WIDTH, (double) edges[n][0], (double) edges[n][1],
                 (double) sizes[n][0], (double) sizes[n][1], peak);
      for (guint k = 0; k < 3; k++)
        places[(n * 3 + k) * POINTS + i % POINTS] = k < 2 ? peak[k] : 1;
      values[i] = peak[2];
    }
    onnx_model_expect (&m, "places", SL_ONNX_FLOAT, G_N_ELEMENTS (places), places, 2e-5);
    onnx_model_expect (&m, "values", SL_ONNX_FLOAT, G_N_ELEMENTS (values), values, 2e-5);
    onnx_model_clear (&m);
  }
}

/* Sizes that no picture has take no more time: as many places as STEPS a pixel, or one, are looked
 * at. Flat maps are highest in their corner. */
static void
test_wild_sizes (void)
{
  static const gfloat sizes[OBJECTS][2] = { { 1e9f, 1e9f }, { INFINITY, 3 }, { NAN, 5 },
                                            { -7, 0 },      { 1e30f, 1 },    { -INFINITY, 1 } };
  static const gfloat edges[OBJECTS][2] = { { 0 } };
  double values[OBJECTS * POINTS] = { 0 }, places[OBJECTS * 3 * POINTS];
  OnnxModel m;
  onnx_model_init (&m, 13, 1);
  memset (onnx_model_floats (&m, "x", 4, DIMS (OBJECTS, POINTS, HEIGHT, WIDTH)), 0,
          OBJECTS * POINTS * HEIGHT * WIDTH * sizeof (gfloat));
  add_heat_map_loop (&m, sizes, edges);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    const guint object = i / (3 * POINTS), axis = i / POINTS % 3;
    const double size = axis < 2 ? (double) sizes[object][axis] : 0;
    const double length = isfinite (size) ? fmax (size, 1) : 1,
                 steps = fmin (ceil (length), STEPS * (axis == 0 ? WIDTH : HEIGHT));
    places[i] = axis == 2 ? 1 : 0.5 * length / steps;
  }
  onnx_model_expect (&m, "values", SL_ONNX_FLOAT, G_N_ELEMENTS (values), values, 0);
  onnx_model_expect (&m, "places", SL_ONNX_FLOAT, G_N_ELEMENTS (places), places, 1e-6);
  onnx_model_clear (&m);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx-two-stage/masks", test_masks);
  g_test_add_func ("/onnx-two-stage/other-loop", test_other_loop);
  g_test_add_func ("/onnx-two-stage/bare-nodes", test_bare_nodes);
  g_test_add_func ("/onnx-two-stage/heat-maps", test_heat_maps);
  g_test_add_func ("/onnx-two-stage/wild-sizes", test_wild_sizes);
  return g_test_run ();
}
