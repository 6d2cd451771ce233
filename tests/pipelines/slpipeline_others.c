/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPipeline without a model of ours: objects that another element wrote on frames, as regions or
 * as relations, are reported with the ids that sltrack gives them.
 */
#include "config.h"

#include <gst/video/video.h>

#include "sightline-pipeline.h"
#include "tests/support/program.h"
#ifdef SL_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define N_FRAMES 5
#define LAUNCH                                                                               \
  "videotestsrc num-buffers=5 ! video/x-raw,format=RGB,width=64,height=48,framerate=25/1 ! " \
  "identity name=detector ! sltrack ! fakesink"

static void
add_region (GstBuffer *frame)
{
  gst_buffer_add_video_region_of_interest_meta (frame, "cat", 16, 12, 32, 24);
}

#ifdef SL_HAVE_ANALYTICS
static void
add_relation (GstBuffer *frame)
{
  GstAnalyticsODMtd object;
  gst_analytics_relation_meta_add_od_mtd (gst_buffer_add_analytics_relation_meta (frame),
                                          g_quark_from_string ("cat"), 16, 12, 32, 24, 0.75f,
                                          &object);
}
#endif

static GstPadProbeReturn
detect (GstPad *pad, GstPadProbeInfo *info, gpointer add)
{
  GstBuffer *frame = gst_buffer_make_writable (gst_pad_probe_info_get_buffer (info));
  ((void (*) (GstBuffer *)) add) (frame);
  GST_PAD_PROBE_INFO_DATA (info) = frame;
  return GST_PAD_PROBE_OK;
}

static void
test_told (gconstpointer add)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlPipeline) pipeline = sl_pipeline_new_from_string (LAUNCH, NULL, &error);
  g_assert_no_error (error);
  g_object_set (pipeline, "max-predictions", 100u, NULL);
  g_autoptr (GObject) detector = sl_pipeline_dup_element (pipeline, "detector", &error);
  g_assert_no_error (error);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (GST_ELEMENT (detector), "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, detect, (gpointer) add, NULL);
  sl_pipeline_start (pipeline, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < N_FRAMES; i++) {
    g_autoptr (SlPredictions) told =
      sl_pipeline_pull_predictions (pipeline, 100 * G_USEC_PER_SEC, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_predictions_get_n_objects (told), ==, 1);
    g_assert_cmpstr (sl_object_get_label (sl_predictions_get_object (told, 0)), ==, "cat");
    g_assert_cmpint (sl_object_get_track_id (sl_predictions_get_object (told, 0)), ==, 1);
    const SlBox *box = sl_object_get_box (sl_predictions_get_object (told, 0));
    g_assert_true (box->x == 16 && box->y == 12 && box->width == 32 && box->height == 24);
  }
  g_assert_null (sl_pipeline_pull_predictions (pipeline, 100 * G_USEC_PER_SEC, &error));
  g_assert_no_error (error);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  g_test_add_data_func ("/slpipeline-others/regions", (gconstpointer) add_region, test_told);
#ifdef SL_HAVE_ANALYTICS
  g_test_add_data_func ("/slpipeline-others/relations", (gconstpointer) add_relation, test_told);
#endif
  return g_test_run ();
}
