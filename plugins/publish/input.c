/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/publish/input.h"

#include "core/base/fail.h"
#include "plugins/publish/frame_lines.h"

SlPublishInput
sl_publish_input_of (const GstStructure *structure)
{
  return gst_structure_has_name (structure, "application/x-json") ? SL_INPUT_JSON_LINES
         : gst_structure_has_name (structure, "text/x-raw")       ? SL_INPUT_TEXT_LINES
                                                                  : SL_INPUT_FRAMES;
}

static gboolean
is_set (const char *text)
{
  return text != NULL && *text != '\0';
}

gboolean
sl_publish_input_reads (const SlPublishValues *settings)
{
  return settings->to.counts || is_set (settings->to.discovery) || settings->on_change;
}

/* Properties that lines of others cannot have. */
static gboolean
fits_lines (const SlPublishValues *settings, GError **error)
{
  if (is_set (settings->events))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "events=%s: the input is lines: expected video with slanalyze upstream",
                    settings->events);
  if (is_set (settings->classes))
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "classes=%s: the input is lines, which go out as they are; expected video, or classes= of "
      "slpredict or slpostprocess",
      settings->classes);
  if (settings->picture_interval > 0)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "picture-interval=%g: the input is lines, which have no pictures: expected "
                    "video with slpredict upstream",
                    settings->picture_interval);
  return TRUE;
}

gboolean
sl_publish_input_fits (const SlPublishValues *settings, SlPublishInput input, GError **error)
{
  const gboolean text =
    input == SL_INPUT_TEXT_LINES || (input == SL_INPUT_FRAMES && settings->format == SL_LINE_TEXT);
  if (input != SL_INPUT_FRAMES && !fits_lines (settings, error))
    return FALSE;
  if (!text || !sl_publish_input_reads (settings))
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT, "%s predictions as JSON, and %s",
                  settings->on_change ? "on-change needs" : "counts and discovery-prefix need",
                  input == SL_INPUT_FRAMES
                    ? "format is text: expected format=json"
                    : "the input is text: ask for application/x-json before slpublish");
}

gboolean
sl_publish_input_check (const SlPublishValues *settings, GstCaps *offered, GError **error)
{
  gboolean may[SL_N_INPUTS] = { FALSE };
  const gboolean any = gst_caps_is_any (offered) || gst_caps_is_empty (offered);
  for (guint i = 0; !any && i < gst_caps_get_size (offered); i++)
    may[sl_publish_input_of (gst_caps_get_structure (offered, i))] = TRUE;
  for (guint input = 0; input < SL_N_INPUTS; input++)
    if ((any || may[input]) && sl_publish_input_fits (settings, input, NULL))
      return TRUE;
  guint first = 0;
  while (!any && !may[first])
    first++;
  return sl_publish_input_fits (settings, first, error);
}

GstCaps *
sl_publish_input_caps (const SlPublishValues *settings, GstCaps *all)
{
  GstCaps *caps = gst_caps_new_empty ();
  for (guint i = 0; i < gst_caps_get_size (all); i++)
    if (sl_publish_input_fits (settings, sl_publish_input_of (gst_caps_get_structure (all, i)),
                               NULL))
      gst_caps_append (caps, gst_caps_copy_nth (all, i));
  return caps;
}
