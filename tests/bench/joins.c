/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Joins a stream of numbered pictures again and again, at random times, and compares every frame
 * that slcamera hands on with the picture that it is of. One row a kind of stream: joins, frames,
 * frames under 25 dB, the worst, and how long the first frame took beyond a group of pictures and a
 * burst's pause.
 *   SIGHTLINE_RTSP_SERVER=build/tests/support/rtsp_server bench-joins [JOINS]
 * JOINS: of all kinds together (200). A kind's joins run five at a time.
 */
#include <gst/gst.h>
#include <stdlib.h>

#include "plugins/elements.h"
#include "tests/elements/camera/compare.h"
#include "tests/elements/camera/support.h"

#define FPS 25
#define AT_ONCE 5
#define AFTER_GOP 0.3 /* seconds */

typedef struct
{
  const char *encoding, *protocols;
  gint gop; /* seconds */
  const char *more;
  gboolean loses;
  double pause; /* seconds that the camera may be silent for */
} Kind;

typedef struct
{
  GstElement *pipeline;
  Compare compare;
  gint64 joined;
} Join;

typedef struct
{
  guint joins, without, late, frames, bad;
  guint64 damaged;
  double worst, longest;
} Sums;

static void
join (Join *self, const Kind *kind, const char *uri)
{
  g_autofree char *launch = g_strdup_printf (
    "slcamera name=camera uri=%s protocols=%s ! video/x-raw,format=I420 ! fakesink name=sink "
    "sync=false",
    uri, kind->protocols);
  g_autoptr (GError) error = NULL;
  self->pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (self->pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  compare_watch (&self->compare, pad);
  self->joined = g_get_monotonic_time ();
  gst_element_set_state (self->pipeline, GST_STATE_PLAYING);
}

static void
leave (Join *self, const Kind *kind, Sums *sums)
{
  g_autoptr (GstElement) camera = gst_bin_get_by_name (GST_BIN (self->pipeline), "camera");
  guint64 damaged;
  g_object_get (camera, "damaged", &damaged, NULL);
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_clear_object (&self->pipeline);
  const Compare *compare = &self->compare;
  sums->joins++;
  sums->frames += compare->frames;
  sums->bad += compare->bad;
  sums->damaged += damaged;
  if (compare->frames == 0) {
    sums->without++;
    return;
  }
  const double took =
    (double) (compare->first - self->joined) / G_USEC_PER_SEC - kind->gop - kind->pause;
  sums->longest = MAX (sums->longest, took);
  sums->late += took > AFTER_GOP;
  sums->worst = MIN (sums->worst, compare->worst);
}

/* Joins at random times within one group, each for that and a second. */
static void
run_kind (const Kind *kind, guint joins, Sums *sums)
{
  g_autofree char *arguments =
    g_strdup_printf ("--numbered --size 320x240 --fps %d --gop %d --payload %s%s", FPS,
                     FPS * kind->gop, kind->encoding, kind->more);
  TestServer server;
  *sums = (Sums){ .worst = 100, .longest = -G_MAXDOUBLE };
  if (!test_server_start (&server, "SIGHTLINE_RTSP_SERVER", 0, arguments))
    exit (1);
  const Kind tcp = { .protocols = "tcp" };
  Join first = { 0 };
  join (&first, &tcp, server.uri); /* keeps the stream going */
  g_usleep (G_USEC_PER_SEC);
  for (guint done = 0; done < joins; done += AT_ONCE) {
    const guint n = MIN (AT_ONCE, joins - done);
    Join batch[AT_ONCE] = { 0 };
    for (guint i = 0; i < n; i++) {
      g_usleep ((gulong) g_random_double_range (0, (double) kind->gop * G_USEC_PER_SEC / AT_ONCE));
      join (&batch[i], kind, server.uri);
    }
    g_usleep (
      (gulong) ((kind->gop + 1 + kind->pause + (kind->loses ? kind->gop : 0)) * G_USEC_PER_SEC));
    for (guint i = 0; i < n; i++)
      leave (&batch[i], kind, sums);
  }
  Sums unused = { 0 };
  leave (&first, &tcp, &unused);
  test_server_kill (&server);
}

int
main (int argc, char **argv)
{
  static const char *const encodings[] = { "h264", "h265" };
  static const gint gops[] = { 1, 2, 5, 10 };
  static const struct
  {
    const char *protocols, *more, *name;
    gboolean loses;
    double pause;
  } ways[] = { { "tcp", "", "tcp" },
               { "udp", "", "udp" },
               { "tcp", " --burst 100 --every 700", "tcp bursts 0.1 s", FALSE, 0.1 },
               { "tcp", " --burst 2000 --every 3000", "tcp bursts 2 s", FALSE, 2 },
               { "udp", " --loss 3", "udp 3 % loss", TRUE } };
  const guint n_kinds = G_N_ELEMENTS (encodings) * G_N_ELEMENTS (gops) * G_N_ELEMENTS (ways);
  const guint joins = argc > 1 ? (guint) atoi (argv[1]) : 200;
  gst_init (&argc, &argv);
  sl_elements_register_static ();
  g_print ("%-5s %4s %-18s %5s %7s %5s %8s %8s %10s %5s %8s\n", "", "GOP", "", "joins", "frames",
           "bad", "worst dB", "left out", "GOP + s", "late", "no frame");
  Sums all = { .worst = 100, .longest = -G_MAXDOUBLE };
  for (guint k = 0; k < n_kinds; k++) {
    const guint way = k % G_N_ELEMENTS (ways), gop = k / G_N_ELEMENTS (ways) % G_N_ELEMENTS (gops);
    const guint encoding = k / G_N_ELEMENTS (ways) / G_N_ELEMENTS (gops);
    const Kind kind = { encodings[encoding], ways[way].protocols, gops[gop],
                        ways[way].more,      ways[way].loses,     ways[way].pause };
    Sums sums;
    run_kind (&kind, joins * (k + 1) / n_kinds - joins * k / n_kinds, &sums);
    g_print ("%-5s %3d s %-18s %5u %7u %5u %8.1f %8" G_GUINT64_FORMAT " %10.2f %5u %8u\n",
             kind.encoding, kind.gop, ways[way].name, sums.joins, sums.frames, sums.bad, sums.worst,
             sums.damaged, sums.without < sums.joins ? sums.longest : 0, sums.late, sums.without);
    all.joins += sums.joins;
    all.frames += sums.frames;
    all.bad += sums.bad;
    all.worst = MIN (all.worst, sums.worst);
  }
  g_print ("all: %u joins, %u frames, %u bad, worst %.1f dB\n", all.joins, all.frames, all.bad,
           all.worst);
  return all.bad > 0;
}
