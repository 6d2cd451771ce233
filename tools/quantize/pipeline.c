/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pipeline is made as for `sightline run`, and its slcamera is taken out. The property uri is
 * not enough, since it reads back without its password. */
#include "tools/quantize/pipeline.h"

#include "pipelines/description/build.h"
#include "plugins/tensor/setting_properties.h"
#include "plugins/video/part.h"
#include "core/base/fail.h"

gboolean
sl_pipeline_is_description (const char *argument)
{
  return g_str_has_suffix (argument, ".pipeline");
}

/* (transfer full) (nullable): the one element that @factory made; NULL with @error set. */
static GstElement *
find_one (GstElement *pipeline, const char *factory, const char *advice, GError **error)
{
  g_autoptr (GPtrArray) found = sl_find_elements (pipeline, factory);
  if (found->len == 1)
    return gst_object_ref (found->pdata[0]);
  return sl_fail_null (error, SL_ERROR_ARGUMENT,
                       "the pipeline has %u elements %s; expected one, %s", found->len, factory,
                       advice);
}

static gboolean
take_model (SlModelOptions *model, GstElement *infer, GError **error)
{
  guint n;
  const SlSetting *table = sl_settings_table (&n);
  sl_setting_properties_read (G_OBJECT (infer), &model->settings);
  for (guint i = 0; i < n; i++) /* the frames are for a quantised copy, which no backend has yet */
    if (table[i].group == SL_SETTINGS_BACKEND)
      sl_setting_set (&table[i], &model->settings, NULL);
  if (model->settings.model != NULL)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "its slinfer has no model; expected one, or MODEL before the description");
}

/* What slpredict, (nullable), will tell its slnormalize when it starts. */
static gboolean
take_region (GstElement *predict, SlRect *part, gboolean *objects, GError **error)
{
  g_autofree char *region = NULL, *classes = NULL;
  if (predict == NULL)
    return TRUE;
  g_object_get (predict, "inference-region", &region, "object-class", &classes, NULL);
  if (!sl_video_part_parse_region (region, part, objects, error))
    return FALSE;
  *objects = *objects || (classes != NULL && classes[0] != '\0');
  return TRUE;
}

static gboolean
take_part (SlNormalizeSpec *spec, GstElement *normalize, GstElement *predict, GError **error)
{
  gint filter, direction, pad_value;
  gboolean objects;
  g_object_get (normalize, "filter", &filter, "video-direction", &direction, "pad-value",
                &pad_value, "objects", &objects, "crop-x", &spec->crop.x, "crop-y", &spec->crop.y,
                "crop-width", &spec->crop.width, "crop-height", &spec->crop.height, NULL);
  spec->filter = (SlFilter) filter;
  spec->orientation = sl_video_part_orientation (direction, GST_VIDEO_ORIENTATION_IDENTITY);
  spec->pad_value = pad_value;
  if (!take_region (predict, &spec->crop, &objects, error))
    return FALSE;
  if (!objects)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "the model sees objects that another one finds; expected a model that sees frames");
}

static gboolean
take (GstElement *pipeline, GstElement **camera, SlModelOptions *model, SlNormalizeSpec *spec,
      GError **error)
{
  g_autoptr (GstElement) infer =
    find_one (pipeline, "slinfer",
              "so MODEL and --camera have to be stated instead of the description", error);
  g_autoptr (GstElement) normalize =
    infer != NULL ? find_one (pipeline, "slnormalize", "which makes what the model sees", error)
                  : NULL;
  g_autoptr (GPtrArray) predicts = sl_find_elements (pipeline, "slpredict");
  GstElement *predict = predicts->len > 0 ? predicts->pdata[0] : NULL;
  if (normalize == NULL || !take_model (model, infer, error)
      || !take_part (spec, normalize, predict, error))
    return FALSE;
  if (camera == NULL)
    return TRUE;
  *camera = find_one (pipeline, "slcamera", "or --camera", error);
  if (*camera != NULL)
    gst_bin_remove (GST_BIN (GST_OBJECT_PARENT (*camera)), *camera);
  return *camera != NULL;
}

gboolean
sl_pipeline_watch (const char *path, SlRunOptions *set, GstElement **camera, SlModelOptions *model,
                   SlNormalizeSpec *spec, GError **error)
{
  g_autoptr (GHashTable) parameters = sl_run_options_parameters_for (set, path, TRUE, error);
  g_autoptr (SlDescription) description =
    parameters != NULL ? sl_description_load (path, parameters, error) : NULL;
  g_autoptr (GstElement) pipeline =
    description != NULL ? sl_description_build (description, error) : NULL;
  if (pipeline == NULL)
    return FALSE;
  const gboolean good = take (pipeline, camera, model, spec, error);
  if (!good)
    g_prefix_error (error, "%s: ", path);
  return good;
}
