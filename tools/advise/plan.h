/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arithmetic of `sightline advise`: whether measured times fit cameras and processors. */
#pragma once

#include <glib.h>

/** SlAdvisedCamera: @width, @height: 16..8192; @rate: frames a second, above 0 and at most 240. */
typedef struct
{
  guint width, height;
  gdouble rate;
} SlAdvisedCamera;

/** sl_advised_camera_parse: "1080p15", "1080p" (25 frames a second), "1280x720@10"; FALSE where
 * @text is none of these. */
gboolean sl_advised_camera_parse (const char *text, SlAdvisedCamera *camera);

/**
 * SlPlanAim: what is wanted.
 * @rate: predictions a second of each camera, at most the camera's
 * @margin: the share of each processor that stays free, 0..0.9
 * @decode_ms: of a frame, by the camera's decoder
 */
typedef struct
{
  SlAdvisedCamera camera;
  guint cameras, processors;
  gdouble rate, margin, decode_ms;
} SlPlanAim;

/** SlPlanTimes: milliseconds of a frame, measured with @threads. */
typedef struct
{
  guint threads;
  gdouble preprocess, inference, decode;
} SlPlanTimes;

/**
 * SlPlan:
 * @interval: the model runs on every so manieth frame, so that @aim's rate is met
 * @frame_ms: of one frame in one pipeline, without its decoder
 * @load: processors that all cameras take
 * @most_rate: predictions a second of each camera that would fit; 0 = none, since decoding alone is
 * too much
 * @fits: both limits hold
 */
typedef struct
{
  guint interval;
  gdouble frame_ms, load, most_rate;
  gboolean fits;
} SlPlan;

/** sl_plan_make: the processors work on @times' threads as long as the inference lasts, which is
 * never less than it takes. */
SlPlan sl_plan_make (const SlPlanAim *aim, const SlPlanTimes *times);
