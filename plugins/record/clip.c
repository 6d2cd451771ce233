/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A picture that cannot be made costs the picture, not the clip: the notes say why there is none.
 */
#include "plugins/record/clip.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/json.h"
#include "core/base/printable.h"
#include "plugins/record/mux.h"
#include "plugins/record/part_file.h"
#include "plugins/record/picture.h"
#include "core/base/fail.h"

struct _SlClip
{
  SlFolder *folder;
  const SlClipStart *start;
  char *stem;
  SlPartFile files[SL_CLIP_FILES];
  SlMux *mux;
  GstClockTime zero, end; /* running time of the first frame; the end of the last one, from @zero */
  GArray *times;          /* of GstClockTime: of @events */
  GPtrArray *events;      /* of char * */
  guint n_events;
  guint64 frames, bytes;
  char *no_picture;   /* (nullable): why */
  SlTrailPart *trail; /* (nullable) */
};

void
sl_clip_start_free (SlClipStart *start)
{
  gst_clear_caps (&start->caps);
  if (start->moment != NULL)
    gst_sample_unref (start->moment);
  g_free (start->event);
  g_free (start->predictions);
  g_free (start->note);
  g_free (start);
}

void
sl_clip_done_clear (SlClipDone *done)
{
  g_free (done->path);
  g_free (done->picture);
  g_free (done->event);
  g_free (done->cut);
}

/* Whether a file has a name of @stem, hidden or not. */
static gboolean
is_taken (const SlFolder *folder, const char *stem)
{
  gboolean taken = FALSE;
  for (guint i = 0; i < SL_CLIP_FILES && !taken; i++) {
    struct stat status;
    g_autofree char *name = sl_clip_name (stem, (SlClipFile) i),
                    *part = sl_clip_part_name (stem, (SlClipFile) i);
    taken = fstatat (folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0
            || fstatat (folder->fd, part, &status, AT_SYMLINK_NOFOLLOW) == 0;
  }
  return taken;
}

/* A name that no file has: of two clips in one millisecond the second one moves on. */
static char *
choose_stem (const SlFolder *folder, const SlClipStart *start)
{
  for (gint64 us = start->us;; us += 1000) {
    g_autofree char *stem = sl_clip_stem (folder->source, us, start->event);
    if (!is_taken (folder, stem))
      return g_steal_pointer (&stem);
  }
}

/* (transfer full) (nullable) */
static GBytes *
make_picture (GstSample *moment, SlPictureLook look, GError **error)
{
  g_autoptr (SlPictureMaker) maker = sl_picture_maker_new (look, error);
  return maker != NULL ? sl_picture_maker_make (maker, gst_sample_get_buffer (moment),
                                                gst_sample_get_caps (moment), error)
                       : NULL;
}

/* FALSE with @error set when it cannot be written, not when it cannot be made. */
static gboolean
write_picture (SlClip *clip, SlPictureLook look, GError **error)
{
  SlPartFile *file = &clip->files[SL_CLIP_PICTURE];
  g_autoptr (GError) reason = NULL;
  if (clip->start->moment == NULL)
    return TRUE;
  g_autoptr (GBytes) picture = make_picture (clip->start->moment, look, &reason);
  if (picture == NULL) {
    clip->no_picture = sl_printable_message (reason->message);
    return TRUE;
  }
  return sl_part_file_open (file, clip->folder->fd, clip->stem, SL_CLIP_PICTURE, error)
         && sl_part_file_write (file, g_bytes_get_data (picture, NULL), g_bytes_get_size (picture),
                                error)
         && sl_part_file_sync (file, error);
}

SlClip *
sl_clip_new (SlFolder *folder, const SlClipStart *start, SlPictureLook look, GError **error)
{
  g_autoptr (SlClip) clip = g_new0 (SlClip, 1);
  clip->folder = folder;
  clip->start = start;
  clip->zero = GST_CLOCK_TIME_NONE;
  clip->times = g_array_new (FALSE, FALSE, sizeof (GstClockTime));
  clip->events = g_ptr_array_new_with_free_func (g_free);
  clip->stem = choose_stem (folder, start);
  for (guint i = 0; i < SL_CLIP_FILES; i++)
    clip->files[i].fd = -1;
  if (!sl_part_file_open (&clip->files[SL_CLIP_VIDEO], folder->fd, clip->stem, SL_CLIP_VIDEO, error)
      || !write_picture (clip, look, error))
    return NULL;
  if (start->note != NULL)
    sl_clip_note (clip, start->time, start->note);
  clip->mux = sl_mux_new (clip->files[SL_CLIP_VIDEO].fd, start->caps, error);
  return clip->mux != NULL ? g_steal_pointer (&clip) : NULL;
}

/* Times of the file, which begins with its first frame. */
static GstClockTime
from_zero (const SlClip *clip, GstClockTime time)
{
  return !GST_CLOCK_TIME_IS_VALID (time) || time < clip->zero ? GST_CLOCK_TIME_NONE
                                                              : time - clip->zero;
}

gboolean
sl_clip_push (SlClip *clip, GstBuffer *frame, GError **error)
{
  frame = gst_buffer_make_writable (frame);
  if (!GST_CLOCK_TIME_IS_VALID (clip->zero))
    clip->zero = GST_BUFFER_PTS (frame);
  GST_BUFFER_PTS (frame) = from_zero (clip, GST_BUFFER_PTS (frame));
  GST_BUFFER_DTS (frame) = from_zero (clip, GST_BUFFER_DTS (frame));
  if (!GST_BUFFER_PTS_IS_VALID (
        frame)) /* shown before the key frame that the clip begins with: nobody can decode it */
    return gst_buffer_unref (frame), TRUE;
  const GstClockTime duration =
    GST_BUFFER_DURATION_IS_VALID (frame) ? GST_BUFFER_DURATION (frame) : 0;
  clip->end = MAX (clip->end, GST_BUFFER_PTS (frame) + duration);
  clip->frames++;
  clip->bytes += gst_buffer_get_size (frame);
  return sl_mux_push (clip->mux, frame, error);
}

static gdouble
seconds_from_zero (const SlClip *clip, GstClockTime time)
{
  return (gdouble) GST_CLOCK_DIFF (clip->zero, time) / GST_SECOND;
}

void
sl_clip_note (SlClip *clip, GstClockTime time, const char *json)
{
  if (clip->n_events++ >= SL_CLIP_EVENTS_MOST)
    return;
  g_array_append_val (clip->times, time);
  g_ptr_array_add (clip->events, g_strdup (json));
}

void
sl_clip_trail (SlClip *clip, SlTrailPart *part)
{
  g_clear_pointer (&clip->trail, sl_trail_part_free);
  clip->trail = part;
}

guint64
sl_clip_bytes (const SlClip *clip)
{
  return clip->bytes;
}

/* The zero is known at the end only: a clip's first key frame may come after its first event. */
static void
append_events (const SlClip *clip, GString *out)
{
  g_string_append_printf (out, ",\"n_events\":%u,\"events\":[", clip->n_events);
  for (guint i = 0; i < clip->events->len; i++) {
    g_string_append (out, i > 0 ? ",{\"at\":" : "{\"at\":");
    sl_json_append_double (
      out, seconds_from_zero (clip, g_array_index (clip->times, GstClockTime, i)), 9);
    g_string_append_printf (out, ",\"what\":%s}", (const char *) clip->events->pdata[i]);
  }
  g_string_append_c (out, ']');
}

/* (transfer full) */
static GString *
make_notes (SlClip *clip, const char *cut)
{
  const SlClipStart *start = clip->start;
  const GstStructure *structure = gst_caps_get_structure (start->caps, 0);
  const gboolean pictured = clip->files[SL_CLIP_PICTURE].fd >= 0;
  g_autofree char *time = sl_clip_time (start->us);
  gint width = 0, height = 0;
  gst_structure_get_int (structure, "width", &width);
  gst_structure_get_int (structure, "height", &height);
  GString *notes = g_string_new ("{\"clip\":");
  sl_json_append_string (notes, clip->files[SL_CLIP_VIDEO].name);
  sl_json_append_text (notes, "picture", pictured ? clip->files[SL_CLIP_PICTURE].name : NULL);
  if (clip->no_picture != NULL)
    sl_json_append_text (notes, "no_picture", clip->no_picture);
  sl_json_append_text (notes, "source", clip->folder->source);
  sl_json_append_text (notes, "event", start->event);
  sl_json_append_text (notes, "time", time);
  sl_json_append_number (notes, "at", seconds_from_zero (clip, start->time), 9);
  sl_json_append_number (notes, "seconds", (gdouble) clip->end / GST_SECOND, 9);
  g_string_append_printf (
    notes, ",\"frames\":%" G_GUINT64_FORMAT ",\"format\":\"%s\",\"width\":%d,\"height\":%d",
    clip->frames, gst_structure_get_name (structure), width, height);
  sl_json_append_text (notes, "cut", cut);
  append_events (clip, notes);
  g_string_append_printf (notes, ",\"predictions\":%s",
                          start->predictions != NULL ? start->predictions : "null");
  sl_json_append_key (notes, "trail");
  if (clip->trail != NULL)
    sl_trail_part_append_json (notes, clip->trail, clip->zero);
  else
    g_string_append (notes, "null");
  g_string_append (notes, "}\n");
  return notes;
}

static gboolean
write_notes (SlClip *clip, const char *cut, GError **error)
{
  SlPartFile *file = &clip->files[SL_CLIP_NOTES];
  GString *notes = make_notes (clip, cut);
  const gboolean written =
    sl_part_file_open (file, clip->folder->fd, clip->stem, SL_CLIP_NOTES, error)
    && sl_part_file_write (file, notes->str, notes->len, error) && sl_part_file_sync (file, error);
  g_string_free (notes, TRUE);
  return written;
}

/* All or none: what has its name already loses it when another one does not get its own. */
static gboolean
commit (SlClip *clip, GError **error)
{
  for (guint i = 0; i < SL_CLIP_FILES; i++) {
    /* Not every file system keeps the order of names: the notes and the picture have theirs on the
     * disk before the video has. */
    if (i == SL_CLIP_VIDEO)
      fsync (clip->folder->fd);
    if (clip->files[i].fd < 0 || sl_part_file_commit (&clip->files[i], error))
      continue;
    while (i-- > 0) {
      g_autofree char *name = sl_clip_name (clip->stem, (SlClipFile) i);
      unlinkat (clip->folder->fd, name, 0);
    }
    return FALSE;
  }
  fsync (clip->folder->fd);
  return TRUE;
}

static char *
path_of (SlClip *clip, SlClipFile file)
{
  g_autofree char *name = sl_clip_name (clip->stem, file);
  return g_build_filename (clip->folder->path, name, NULL);
}

gboolean
sl_clip_finish (SlClip *clip, const char *cut, SlClipDone *done, GError **error)
{
  const gboolean pictured = clip->files[SL_CLIP_PICTURE].fd >= 0;
  struct stat status;
  if (clip->frames == 0)
    return sl_fail (error, SL_ERROR_FORMAT, "no frame came that the clip could begin with");
  if (!sl_mux_finish (clip->mux, error) || !sl_part_file_sync (&clip->files[SL_CLIP_VIDEO], error)
      || !write_notes (clip, cut, error))
    return FALSE;
  g_clear_pointer (&clip->mux, sl_mux_free);
  const guint64 bytes =
    fstat (clip->files[SL_CLIP_VIDEO].fd, &status) == 0 ? (guint64) status.st_size : clip->bytes;
  if (!commit (clip, error))
    return FALSE;
  *done = (SlClipDone){ .path = path_of (clip, SL_CLIP_VIDEO),
                        .picture = pictured ? path_of (clip, SL_CLIP_PICTURE) : NULL,
                        .event = g_strdup (clip->start->event),
                        .cut = g_strdup (cut),
                        .seconds = (gdouble) clip->end / GST_SECOND,
                        .frames = clip->frames,
                        .bytes = bytes };
  return TRUE;
}

void
sl_clip_free (SlClip *clip)
{
  g_clear_pointer (&clip->mux, sl_mux_free);
  for (guint i = 0; i < SL_CLIP_FILES; i++)
    sl_part_file_abandon (&clip->files[i]);
  g_array_unref (clip->times);
  g_ptr_array_unref (clip->events);
  g_clear_pointer (&clip->trail, sl_trail_part_free);
  g_free (clip->no_picture);
  g_free (clip->stem);
  g_free (clip);
}
