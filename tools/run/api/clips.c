/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of events: the picture, a small one, and the clip to play or to save. */
#include <string.h>

#include "tools/run/api/job.h"
#include "tools/run/events/colors.h"
#include "tools/run/events/folder.h"
#include "sightline/error.h"

/* The event with the file that is asked for: (nullable), having refused. */
static SlEventRow *
event_with (SlApiRequest *request, SlApiJob *job, gboolean picture)
{
  SlEventRow *row = sl_api_job_event (request, job);
  if (row == NULL || (picture ? row->picture : row->clip))
    return row;
  sl_api_job_refuse (job, SOUP_STATUS_NOT_FOUND, "%s: there is no %s of this event", row->stem,
                     picture ? "picture" : "clip");
  sl_event_row_free (row);
  return NULL;
}

static void
gone (SlApiJob *job, const GError *error)
{
  sl_api_job_refuse (job, SOUP_STATUS_NOT_FOUND,
                     "%s; it may have been deleted: load the list again", error->message);
}

static GBytes *
read_picture (SlApiRequest *request, SlApiJob *job)
{
  g_autoptr (GError) error = NULL;
  SlEventRow *row = event_with (request, job, TRUE);
  if (row == NULL)
    return NULL;
  GBytes *bytes =
    sl_clip_file_read (row->store->folder, row->stem, SL_CLIP_PICTURE, SL_PICTURE_BYTES, &error);
  if (bytes == NULL)
    gone (job, error);
  job->type = "image/jpeg";
  sl_event_row_free (row);
  return bytes;
}

static void
picture (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  job->bytes = read_picture (request, job);
}

/* A picture that cannot be made small is told as it is. */
static void
thumbnail (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  job->bytes = read_picture (request, job);
  GBytes *small = job->bytes != NULL ? sl_thumbnail (job->bytes, NULL) : NULL;
  if (small != NULL) {
    g_bytes_unref (job->bytes);
    job->bytes = small;
  }
}

static void
clip_mkv (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  g_autoptr (GError) error = NULL;
  guint64 size = 0;
  SlEventRow *row = event_with (request, job, FALSE);
  if (row == NULL)
    return;
  const gint fd = sl_clip_file_open (row->store->folder, row->stem, SL_CLIP_VIDEO, &size, &error);
  if (fd < 0)
    gone (job, error);
  else
    job->file = sl_mp4_new_plain (fd, size);
  job->type = "video/x-matroska";
  job->name = job->save_as = sl_clip_name (row->stem, SL_CLIP_VIDEO);
  sl_event_row_free (row);
}

static void
refuse_mp4 (SlApiJob *job, const SlEventRow *row, const GError *error)
{
  if (g_error_matches (error, SL_ERROR, SL_ERROR_BACKEND))
    sl_api_job_refuse (job, SOUP_STATUS_SERVICE_UNAVAILABLE, "%s", error->message);
  else if (g_error_matches (error, SL_ERROR, SL_ERROR_OPEN))
    gone (job, error);
  else if (g_error_matches (error, SL_ERROR, SL_ERROR_UNSUPPORTED))
    sl_api_job_refuse (job, SOUP_STATUS_NOT_IMPLEMENTED, "%s", error->message);
  else
    sl_api_job_refuse (job, SOUP_STATUS_INTERNAL_SERVER_ERROR,
                       "%s cannot be played: %s; clip.mkv has the file as it is", row->stem,
                       error->message);
}

static void
clip_mp4 (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  g_autoptr (GError) error = NULL;
  SlEventRow *row = event_with (request, job, FALSE);
  if (row == NULL)
    return;
  if (row->format != NULL && strcmp (row->format, "video/x-h264") != 0) {
    sl_api_job_refuse (
      job, SOUP_STATUS_UNSUPPORTED_MEDIA_TYPE,
      "%s is %s: expected video/x-h264, which browsers play; clip.mkv has the file "
      "as it is",
      row->stem, row->format);
  } else {
    job->file =
      sl_mp4_cache_get (sl_events_mp4s (job->events), row->store->folder, row->stem, &error);
    if (job->file == NULL)
      refuse_mp4 (job, row, error);
  }
  job->type = "video/mp4";
  sl_event_row_free (row);
}

static void
answer_picture (SlApiRequest *request)
{
  sl_api_job_answer (request, picture);
}

static void
answer_thumbnail (SlApiRequest *request)
{
  sl_api_job_answer (request, thumbnail);
}

static void
answer_mkv (SlApiRequest *request)
{
  sl_api_job_answer (request, clip_mkv);
}

static void
answer_mp4 (SlApiRequest *request)
{
  sl_api_job_convert (request, clip_mp4);
}

const SlApiRoute sl_api_clips_routes[] = {
  { "GET", "/api/v1/events/{id}/picture.jpg", SL_ROLE_LOOK, 0, answer_picture },
  { "GET", "/api/v1/events/{id}/thumbnail.jpg", SL_ROLE_LOOK, 0, answer_thumbnail },
  { "GET", "/api/v1/events/{id}/clip.mp4", SL_ROLE_LOOK, 0, answer_mp4 },
  { "GET", "/api/v1/events/{id}/clip.mkv", SL_ROLE_LOOK, 0, answer_mkv },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
