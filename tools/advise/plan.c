/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/advise/plan.h"

#include <math.h>

#define DEFAULT_RATE 25
#define LEAST_SIDE 16
#define MOST_SIDE 8192
#define MOST_RATE 240

/* The number at @text; at its end the default. */
static gboolean
parse_rate (const char *text, gdouble *rate)
{
  char *end = NULL;
  *rate = DEFAULT_RATE;
  if (*text == '\0')
    return TRUE;
  if (!g_ascii_isdigit (*text))
    return FALSE;
  *rate = g_ascii_strtod (text, &end);
  return *end == '\0' && *rate > 0 && *rate <= MOST_RATE;
}

static gboolean
is_side (guint64 pixels)
{
  return pixels >= LEAST_SIDE && pixels <= MOST_SIDE;
}

gboolean
sl_advised_camera_parse (const char *text, SlAdvisedCamera *camera)
{
  char *end = NULL;
  const guint64 first = g_ascii_isdigit (*text) ? g_ascii_strtoull (text, &end, 10) : 0;
  if (!is_side (first))
    return FALSE;
  guint64 width = first, height = first;
  if (*end == 'p')
    width = first * 16 / 9 / 2 * 2;
  else if (*end == 'x' && g_ascii_isdigit (end[1]))
    height = g_ascii_strtoull (end + 1, &end, 10);
  else
    return FALSE;
  camera->width = (guint) MIN (width, G_MAXUINT);
  camera->height = (guint) MIN (height, G_MAXUINT);
  return is_side (width) && is_side (height)
         && parse_rate (*end == 'p' || *end == '@' ? end + 1 : end, &camera->rate);
}

SlPlan
sl_plan_make (const SlPlanAim *aim, const SlPlanTimes *times)
{
  const gdouble frames = aim->camera.rate * aim->cameras, decoding = frames * aim->decode_ms / 1000,
                free_processors = (1 - aim->margin) * aim->processors,
                busy = times->preprocess + times->threads * times->inference + times->decode;
  SlPlan plan = { .interval = MAX (1, (guint) floor (aim->camera.rate / aim->rate + 1e-9)),
                  .frame_ms = times->preprocess + times->inference + times->decode };
  const gdouble rate = aim->camera.rate / plan.interval;
  const gdouble by_load = 1000 * (free_processors - decoding) / (aim->cameras * busy),
                by_frame = 1000 * (1 - aim->margin) / plan.frame_ms;
  plan.load = decoding + rate * aim->cameras * busy / 1000;
  plan.most_rate = CLAMP (MIN (by_load, by_frame), 0, aim->camera.rate);
  plan.fits = plan.load <= free_processors && plan.frame_ms * rate <= 1000 * (1 - aim->margin);
  return plan;
}
