/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * appsrc ! sloverlay (or slredact) ! videoconvert ! encoder ! appsink, one frame in flight.
 * sloverlay draws in the frame's own format, so what the file shows is what a screen would. What
 * the name of the file ends in says whether it is pictures or a video (video_file.c).
 */
#include "tools/predict/drawing.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "pipelines/supervise/bus.h"
#include "tools/frames.h"
#include "tools/predict/overlay.h"
#include "tools/predict/video_file.h"

#define POLL_INTERVAL (100 * GST_MSECOND)

static const struct
{
  const char *ending, *encoder; /* NULL: a video */
} kinds[] = {
  { ".png", "pngenc" }, { ".jpg", "jpegenc" }, { ".jpeg", "jpegenc" }, { ".mp4", NULL }
};

struct _SlDrawer
{
  SlVideoFile *video; /* NULL where pictures are written */
  char *path;
  guint written;
  GstElement *pipeline, *source, *sink;
};

/* Index into kinds; -1 for an unknown ending. Pictures are PNG where there is no ending. */
static int
kind_of (const char *path)
{
  const char *dot = strrchr (path, '.');
  if (dot == NULL || strchr (dot, '/') != NULL || dot[1] == '\0')
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_ascii_strcasecmp (dot, kinds[i].ending) == 0)
      return (int) i;
  return -1;
}

static GstElement *
make_encoder (GstBin *bin, const char *name, GError **error)
{
  GstElement *encoder = gst_element_factory_make (name, NULL);
  if (encoder == NULL)
    sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "GStreamer has no element '%s': install its good plugins (Debian: gstreamer1.0-plugins-good)",
      name);
  else
    gst_bin_add (bin, encoder);
  return encoder;
}

static gboolean
build (SlDrawer *drawer, const char *redact, GError **error)
{
  drawer->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  GstBin *bin = GST_BIN (drawer->pipeline);
  GstElement *overlay = sl_make_drawing (bin, redact, error);
  GstElement *encoder =
    overlay != NULL ? make_encoder (bin, kinds[kind_of (drawer->path)].encoder, error) : NULL;
  GstElement *convert = encoder != NULL ? sl_make_element (bin, "videoconvert", error) : NULL;
  drawer->source = convert != NULL ? sl_make_element (bin, "appsrc", error) : NULL;
  drawer->sink = drawer->source != NULL ? sl_make_element (bin, "appsink", error) : NULL;
  if (drawer->sink == NULL)
    return FALSE;
  g_object_set (drawer->source, "format", GST_FORMAT_TIME, NULL);
  g_object_set (drawer->sink, "sync", FALSE, "async", FALSE, "enable-last-sample", FALSE, NULL);
  if (gst_element_link_many (drawer->source, overlay, convert, encoder, drawer->sink, NULL)
      && gst_element_set_state (drawer->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
    return TRUE;
  sl_bus_take_refusal (drawer->pipeline, "the drawing pipeline", NULL, error);
  return FALSE;
}

SlDrawer *
sl_drawer_new (const char *path, const char *redact, GError **error)
{
  g_autoptr (SlDrawer) drawer = g_new0 (SlDrawer, 1);
  drawer->path = g_strdup (path);
  if (kinds[kind_of (path)].encoder == NULL)
    return (drawer->video = sl_video_file_new (path, redact, error)) != NULL
             ? g_steal_pointer (&drawer)
             : NULL;
  return build (drawer, redact, error) ? g_steal_pointer (&drawer) : NULL;
}

void
sl_drawer_free (SlDrawer *drawer)
{
  if (drawer == NULL)
    return;
  if (drawer->pipeline != NULL)
    gst_element_set_state (drawer->pipeline, GST_STATE_NULL);
  gst_clear_object (&drawer->pipeline);
  sl_video_file_free (drawer->video);
  g_free (drawer->path);
  g_free (drawer);
}

/* "a/b.png" -> "a/b-2.png" */
static char *
numbered (const char *path, guint number)
{
  const char *slash = strrchr (path, '/'), *dot = strrchr (path, '.');
  if (number < 2)
    return g_strdup (path);
  if (dot == NULL || (slash != NULL && dot < slash))
    return g_strdup_printf ("%s-%u", path, number);
  return g_strdup_printf ("%.*s-%u%s", (int) (dot - path), path, number, dot);
}

char *
sl_drawer_next_path (SlDrawer *drawer)
{
  return numbered (drawer->path, drawer->video != NULL ? 1 : drawer->written + 1);
}

/* The next encoded picture; NULL with @error set when the pipeline failed. */
static GstSample *
pull (SlDrawer *drawer, GError **error)
{
  for (;;) {
    GstSample *sample = gst_app_sink_try_pull_sample (GST_APP_SINK (drawer->sink), POLL_INTERVAL);
    if (sample != NULL)
      return sample;
    if (sl_bus_take_error (drawer->pipeline, 0, NULL, error))
      return NULL;
    if (gst_app_sink_is_eos (GST_APP_SINK (drawer->sink)))
      return sl_fail_null (error, SL_ERROR_BACKEND, "the drawing pipeline ended");
  }
}

/* Takes @file (nullable). FALSE with errno set. */
static gboolean
write_all (FILE *file, const guint8 *data, gsize size)
{
  const gboolean written =
    file != NULL && fwrite (data, 1, size, file) == size && fflush (file) == 0;
  const int reason = errno;
  if (file != NULL)
    fclose (file);
  errno = reason;
  return written;
}

/* A new file takes the place of @path at once and whole. FALSE with errno set. */
static gboolean
replace_file (const char *path, const guint8 *data, gsize size)
{
  g_autofree char *part = g_strconcat (path, ".XXXXXX", NULL);
  const int file = g_mkstemp_full (part, O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0)
    return FALSE;
  if (write_all (fdopen (file, "wb"), data, size) && g_rename (part, path) == 0)
    return TRUE;
  const int reason = errno;
  g_unlink (part);
  errno = reason;
  return FALSE;
}

static gboolean
is_special (const char *path)
{
  GStatBuf status;
  return g_stat (path, &status) == 0 && !S_ISREG (status.st_mode);
}

/* A path that is not a regular file, such as /dev/stdout or a pipe, is written to and not replaced.
 */
static gboolean
write_file (const char *path, const guint8 *data, gsize size, GError **error)
{
  if (is_special (path) ? write_all (g_fopen (path, "wb"), data, size)
                        : replace_file (path, data, size))
    return TRUE;
  return sl_fail (error, SL_ERROR_OPEN, "--draw %s: cannot be written: %s", path,
                  g_strerror (errno));
}

/* Before a model is loaded and a source decoded for nothing. */
gboolean
sl_drawer_check (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  if (path[0] == '\0' || g_file_test (path, G_FILE_TEST_IS_DIR))
    sl_fail (error, SL_ERROR_ARGUMENT,
             "--draw '%s': expected the name of a file that ends in .png, .jpg or .mp4", path);
  else if (kind_of (path) < 0)
    sl_fail (
      error, SL_ERROR_ARGUMENT,
      "--draw %s: expected a file name that ends in .png or .jpg, for pictures, or .mp4, for a "
      "video",
      path);
  else if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    sl_fail (error, SL_ERROR_OPEN, "--draw %s: there is no folder %s; make it first", path, folder);
  else if (!is_special (path) && g_access (folder, W_OK | X_OK) != 0)
    sl_fail (error, SL_ERROR_OPEN, "--draw %s: the folder %s cannot be written to: %s", path,
             folder, g_strerror (errno));
  else
    return TRUE;
  return FALSE;
}

static gboolean
write_picture (SlDrawer *drawer, GstSample *frame, GError **error)
{
  GstMapInfo map;
  gst_app_src_push_sample (GST_APP_SRC (drawer->source), frame);
  GstSample *picture = pull (drawer, error);
  if (picture == NULL)
    return FALSE;
  g_autofree char *path = sl_drawer_next_path (drawer);
  drawer->written++;
  GstBuffer *buffer = gst_sample_get_buffer (picture);
  gboolean good = gst_buffer_map (buffer, &map, GST_MAP_READ);
  if (good) {
    good = write_file (path, map.data, map.size, error);
    gst_buffer_unmap (buffer, &map);
  } else {
    sl_fail (error, SL_ERROR_BACKEND, "the picture cannot be read");
  }
  gst_sample_unref (picture);
  return good;
}

/* A flush makes slredact forget the objects that it holds; no picture is on its way. */
void
sl_drawer_next_source (SlDrawer *drawer)
{
  if (drawer->video != NULL) {
    sl_video_file_next_source (drawer->video);
  } else if (drawer->written > 0) {
    gst_element_send_event (drawer->source, gst_event_new_flush_start ());
    gst_element_send_event (drawer->source, gst_event_new_flush_stop (TRUE));
  }
}

gboolean
sl_drawer_write (SlDrawer *drawer, GstSample *frame, gboolean moving, GError **error)
{
  return drawer->video != NULL ? sl_video_file_write (drawer->video, frame, moving, error)
                               : write_picture (drawer, frame, error);
}

gboolean
sl_drawer_finish (SlDrawer *drawer, GError **error)
{
  return drawer->video == NULL || sl_video_file_finish (drawer->video, error);
}
