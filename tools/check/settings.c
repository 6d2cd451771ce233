/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Properties that elements parse when they start. `sightline check` does not start elements,
 * because a start makes files and listens at ports. Each is parsed here as the element does it.
 */
#include "plugins/record/encoder.h"
#include "plugins/record/triggers.h"
#include "plugins/video/part.h"
#include "postprocess/analyze/regions.h"
#include "tools/check/findings.h"

static gboolean
read_regions (const char *text, GError **error)
{
  g_autoptr (SlRegions) regions = text != NULL ? sl_regions_parse (text, error) : NULL;
  if (text != NULL && regions == NULL)
    g_prefix_error (error, "regions: ");
  return text == NULL || regions != NULL;
}

static gboolean
read_ignored (const char *text, GError **error)
{
  g_autoptr (SlRegions) zones = NULL;
  return sl_regions_parse_zones (text, "ignore", &zones, error);
}

static gboolean
read_hidden (const char *text, GError **error)
{
  g_autoptr (SlRegions) zones = NULL;
  return sl_regions_parse_zones (text, "zones", &zones, error);
}

static gboolean
read_triggers (const char *text, GError **error)
{
  SlTriggers triggers = { 0 };
  const gboolean good = sl_triggers_open (&triggers, text, error);
  sl_triggers_clear (&triggers);
  return good;
}

static gboolean
read_encoder (const char *text, GError **error)
{
  return sl_encoder_choose (text, error) != NULL;
}

static gboolean
read_part (const char *text, GError **error)
{
  SlRect part;
  gboolean objects;
  return sl_video_part_parse_region (text, &part, &objects, error);
}

static const struct
{
  const char *factory, *property;
  gboolean (*read) (const char *, GError **);
} texts[] = {
  { "slanalyze", "regions", read_regions },       { "slmotion", "ignore", read_ignored },
  { "slredact", "zones", read_hidden },           { "slrecord", "on", read_triggers },
  { "slrecord", "encoder", read_encoder },        { "slrestream", "encoder", read_encoder },
  { "slpredict", "inference-region", read_part },
};

/* Whether @element records a stream that is encoded already, and needs no encoder. */
static gboolean
records_coded (GstElement *element)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "encoded");
  return pad != NULL && sl_check_is (element, "slrecord");
}

void
sl_check_settings (GstElement *element, GArray *findings)
{
  GstElement *predict = sl_check_is (element, "slnormalize") ? sl_check_predict (element) : NULL;
  if (predict != NULL) /* once, by its first part */
    element = predict;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree char *text = NULL;
    g_autoptr (GError) error = NULL;
    if (!sl_check_is (element, texts[i].factory)
        || (texts[i].read == read_encoder && records_coded (element)))
      continue;
    g_object_get (element, texts[i].property, &text, NULL);
    if (!texts[i].read (text, &error))
      sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element), "%s",
                       error->message);
  }
}
