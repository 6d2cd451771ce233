/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/advise/codec_cost.h"

#include <glib/gstdio.h>
#include <gst/gst.h>
#include <sys/resource.h>

#include "core/base/fail.h"
#include "pipelines/supervise/bus.h"

#define FRAMES 45
#define TIMEOUT (30 * GST_SECOND)

/* Cameras of 1080p send about 4 Mbit/s. @stored: as a file has it; @encoders: in the order in which
 * they are tried. */
static const struct
{
  const char *name, *caps, *stored, *parser, *encoders[3], *settings[3];
} codecs[] = {
  { "h264",
    "video/x-h264",
    "video/x-h264,stream-format=byte-stream",
    "h264parse",
    { "x264enc", "openh264enc" },
    { "speed-preset=superfast tune=zerolatency bitrate=4000 key-int-max=30",
      "bitrate=4000000 gop-size=30" } },
  { "jpeg", "image/jpeg", "image/jpeg", "jpegparse", { "jpegenc" }, { "quality=85" } },
  { "raw", NULL, NULL, NULL, { NULL }, { NULL } },
};

const char *const *
sl_codec_names (void)
{
  static const char *names[G_N_ELEMENTS (codecs) + 1];
  for (guint i = 0; i < G_N_ELEMENTS (codecs); i++)
    names[i] = codecs[i].name;
  return names;
}

static guint
find_codec (const char *name)
{
  guint i = 0;
  while (g_strcmp0 (codecs[i].name, name) != 0)
    i++;
  return i;
}

static gboolean
has_element (const char *name)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);
  return factory != NULL;
}

/* (transfer full) (nullable): the name of the decoder that is ranked first. */
static char *
best_decoder (const char *text)
{
  GList *all = gst_element_factory_list_get_elements (GST_ELEMENT_FACTORY_TYPE_DECODER
                                                        | GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO
                                                        | GST_ELEMENT_FACTORY_TYPE_MEDIA_IMAGE,
                                                      GST_RANK_MARGINAL);
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);
  GList *some = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, FALSE);
  some = g_list_sort (some, gst_plugin_feature_rank_compare_func);
  char *name = some != NULL ? g_strdup (GST_OBJECT_NAME (some->data)) : NULL;
  gst_plugin_feature_list_free (some);
  gst_plugin_feature_list_free (all);
  return name;
}

static gboolean
play (const char *launch, GError **error)
{
  GError *failed = NULL;
  GstElement *pipeline = gst_parse_launch (launch, &failed);
  if (failed != NULL) {
    gst_clear_object (&pipeline);
    g_propagate_error (error, failed);
    return FALSE;
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  const gboolean good = sl_bus_wait_for_end (pipeline, TIMEOUT, &failed);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  if (failed != NULL)
    g_propagate_error (error, failed);
  else if (!good)
    sl_fail (error, SL_ERROR_BACKEND, "%d frames took more than %d s", FRAMES,
             (int) (TIMEOUT / GST_SECOND));
  return good && failed == NULL;
}

/* Of all threads of the process. */
static gdouble
processor_ms (void)
{
  struct rusage used;
  getrusage (RUSAGE_SELF, &used);
  return (gdouble) (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3
         + (gdouble) (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

static gboolean
encode (guint codec, const SlAdvisedCamera *camera, const char *file, GError **error)
{
  for (guint i = 0; codecs[codec].encoders[i] != NULL; i++) {
    if (!has_element (codecs[codec].encoders[i]))
      continue;
    g_autofree char *launch = g_strdup_printf (
      "videotestsrc num-buffers=%d pattern=zone-plate kx2=10 ky2=10 kt=3 ! "
      "video/x-raw,format=I420,width=%u,height=%u,framerate=15/1 ! %s %s ! %s ! %s ! filesink "
      "location=\"%s\"",
      FRAMES, camera->width / 2 * 2, camera->height / 2 * 2, codecs[codec].encoders[i],
      codecs[codec].settings[i], codecs[codec].parser, codecs[codec].stored, file);
    return play (launch, error);
  }
  return sl_fail (error, SL_ERROR_UNSUPPORTED,
                  "no encoder of %s is installed (GStreamer's %s), so its decoding is not measured",
                  codecs[codec].name, codecs[codec].encoders[0]);
}

gboolean
sl_codec_cost (const char *codec, const SlAdvisedCamera *camera, const char *folder, gdouble *ms,
               char **decoder, GError **error)
{
  const guint i = find_codec (codec);
  *ms = 0;
  *decoder = NULL;
  if (codecs[i].caps == NULL)
    return TRUE;
  g_autofree char *file = g_build_filename (folder, "camera", NULL),
                  *name = best_decoder (codecs[i].caps);
  if (name == NULL)
    return sl_fail (error, SL_ERROR_UNSUPPORTED, "no decoder of %s is installed", codec);
  if (!encode (i, camera, file, error)) {
    g_unlink (file);
    return FALSE;
  }
  g_autofree char *launch =
    g_strdup_printf ("filesrc location=\"%s\" ! %s ! %s ! fakesink", file, codecs[i].parser, name);
  const gdouble before = processor_ms ();
  const gboolean good = play (launch, error);
  *ms = (processor_ms () - before) / FRAMES;
  g_unlink (file);
  if (good)
    *decoder = g_steal_pointer (&name);
  return good;
}
