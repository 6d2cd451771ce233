/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filesrc ! matroskademux ! h264parse ! mp4mux ! fdsink, and no picture is decoded. */
#include "tools/run/events/mp4.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "tools/run/events/folder.h"

/* A clip that takes longer, or as much more, is no clip. */
#define PATIENCE (20 * GST_SECOND)
#define GROWTH (1 << 20)
/* Milliseconds of a fragment. */
#define FRAGMENT 1000
/* Bytes among which a clip's header says what it is. */
#define HEADER 256

/* @key: folder and name of the clip */
typedef struct
{
  char *key;
  SlMp4 *mp4;
} Entry;

struct _SlMp4Cache
{
  GMutex lock;
  GQueue entries; /* of Entry, newest first */
  guint busy;
  gint stopped; /* atomic */
};

SlMp4 *
sl_mp4_new_plain (gint fd, guint64 size)
{
  SlMp4 *mp4 = g_new (SlMp4, 1);
  *mp4 = (SlMp4){ 1, fd, size };
  return mp4;
}

void
sl_mp4_unref (SlMp4 *mp4)
{
  if (!g_atomic_int_dec_and_test (&mp4->refs))
    return;
  close (mp4->fd);
  g_free (mp4);
}

static SlMp4 *
ref (SlMp4 *mp4)
{
  g_atomic_int_inc (&mp4->refs);
  return mp4;
}

static void
entry_free (gpointer data)
{
  Entry *entry = data;
  sl_mp4_unref (entry->mp4);
  g_free (entry->key);
  g_free (entry);
}

/* Beside the clips is room; a file system that knows no files without a name has another place. */
static gint
open_nameless (const char *folder, GError **error)
{
  g_autofree char *name = NULL;
  gint fd = open (folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0)
    return fd;
  fd = g_file_open_tmp ("sightline-XXXXXX.mp4", &name, error);
  if (fd >= 0)
    g_unlink (name);
  return fd;
}

static gboolean
has_elements (GError **error)
{
  static const char *const names[][2] = { { "matroskademux", "gstreamer1.0-plugins-good" },
                                          { "h264parse", "gstreamer1.0-plugins-bad" },
                                          { "mp4mux", "gstreamer1.0-plugins-good" } };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GstElementFactory) factory = gst_element_factory_find (names[i][0]);
    if (factory == NULL)
      return sl_fail (error, SL_ERROR_UNSUPPORTED,
                      "GStreamer has no element %s, which makes MP4 (Debian: %s)", names[i][0],
                      names[i][1]);
  }
  return TRUE;
}

/* Waits for the end, the time, too many bytes, or the end of the program. */
static gboolean
wait_for_end (SlMp4Cache *cache, GstElement *pipeline, gint out, guint64 most, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  const gint64 until = g_get_monotonic_time () + (gint64) (PATIENCE / GST_USECOND);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) reason = NULL;
  struct stat status = { 0 };
  while (message == NULL && g_get_monotonic_time () < until && (guint64) status.st_size <= most
         && !g_atomic_int_get (&cache->stopped)) {
    message =
      gst_bus_timed_pop_filtered (bus, 50 * GST_MSECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    if (fstat (out, &status) != 0)
      break;
  }
  if (message == NULL)
    return sl_fail (error, SL_ERROR_FORMAT, "it takes too long, or becomes too large");
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    return status.st_size > 0 || sl_fail (error, SL_ERROR_FORMAT, "there is no picture in it");
  gst_message_parse_error (message, &reason, NULL);
  return sl_fail (error, SL_ERROR_FORMAT, "%s", reason->message);
}

static gboolean
convert (SlMp4Cache *cache, gint in, guint64 size, gint out, GError **error)
{
  g_autofree char *line =
    g_strdup_printf ("filesrc location=/proc/self/fd/%d ! matroskademux ! video/x-h264 ! h264parse "
                     "! mp4mux fragment-duration=%d ! fdsink fd=%d sync=false async=false",
                     in, FRAGMENT, out);
  GstElement *pipeline = gst_parse_launch (line, error);
  if (pipeline == NULL)
    return FALSE;
  gst_object_ref_sink (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  const gboolean done = wait_for_end (cache, pipeline, out, size + size / 8 + GROWTH, error);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return done;
}

/* Whether the DocType of the header at @head is @type: its id, a byte of length, the text. */
static gboolean
has_type (const guint8 *head, gsize n, const char *type)
{
  const guint8 *found = memmem (head, n, type, strlen (type));
  return found != NULL && found - head >= 3 && found[-3] == 0x42 && found[-2] == 0x82;
}

/* matroskademux complains of other files as a program of its own would, past the log. */
static gboolean
check_header (gint fd, GError **error)
{
  static const guint8 begin[] = { 0x1a, 0x45, 0xdf, 0xa3 };
  guint8 head[HEADER] = { 0 };
  const gssize n = pread (fd, head, sizeof head, 0);
  return (n > 0 && memcmp (head, begin, sizeof begin) == 0
          && (has_type (head, (gsize) n, "matroska") || has_type (head, (gsize) n, "webm")))
         || sl_fail (error, SL_ERROR_FORMAT,
                     "it is no Matroska file: expected a header of matroska or webm");
}

static SlMp4 *
make (SlMp4Cache *cache, const char *folder, const char *stem, GError **error)
{
  struct stat status;
  guint64 size;
  const gint in =
    has_elements (error) ? sl_clip_file_open (folder, stem, SL_CLIP_VIDEO, &size, error) : -1;
  const gint out = in >= 0 && check_header (in, error) ? open_nameless (folder, error) : -1;
  gboolean made = out >= 0 && convert (cache, in, size, out, error);
  made = made && fstat (out, &status) == 0;
  if (in >= 0)
    close (in);
  if (made)
    return sl_mp4_new_plain (out, (guint64) status.st_size);
  if (out >= 0)
    close (out);
  return NULL;
}

SlMp4Cache *
sl_mp4_cache_new (void)
{
  SlMp4Cache *cache = g_new0 (SlMp4Cache, 1);
  g_mutex_init (&cache->lock);
  g_queue_init (&cache->entries);
  return cache;
}

void
sl_mp4_cache_stop (SlMp4Cache *cache)
{
  g_atomic_int_set (&cache->stopped, TRUE);
}

void
sl_mp4_cache_free (SlMp4Cache *cache)
{
  g_queue_clear_full (&cache->entries, entry_free);
  g_mutex_clear (&cache->lock);
  g_free (cache);
}

/* Under the lock: (nullable) */
static SlMp4 *
find (SlMp4Cache *cache, const char *key)
{
  for (GList *link = cache->entries.head; link != NULL; link = link->next) {
    Entry *entry = link->data;
    if (g_strcmp0 (entry->key, key) != 0)
      continue;
    g_queue_unlink (&cache->entries, link);
    g_queue_push_head_link (&cache->entries, link);
    return ref (entry->mp4);
  }
  return NULL;
}

/* Under the lock. */
static void
keep (SlMp4Cache *cache, char *key, SlMp4 *mp4)
{
  Entry *entry = g_new (Entry, 1);
  *entry = (Entry){ key, ref (mp4) };
  g_queue_push_head (&cache->entries, entry);
  while (cache->entries.length > SL_MP4_MOST)
    entry_free (g_queue_pop_tail (&cache->entries));
}

static gboolean
is_gone (const Entry *entry)
{
  g_autofree char *folder = g_path_get_dirname (entry->key),
                  *stem = g_path_get_basename (entry->key);
  SlClipFiles *files = sl_clip_files_of (folder, stem);
  const gboolean gone = files == NULL;
  g_clear_pointer (&files, sl_clip_files_free);
  return gone;
}

void
sl_mp4_cache_tidy (SlMp4Cache *cache)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&cache->lock);
  for (GList *link = cache->entries.head, *next; link != NULL; link = next) {
    next = link->next;
    if (is_gone (link->data)) {
      entry_free (link->data);
      g_queue_delete_link (&cache->entries, link);
    }
  }
}

SlMp4 *
sl_mp4_cache_get (SlMp4Cache *cache, const char *folder, const char *stem, GError **error)
{
  g_autofree char *key = g_build_filename (folder, stem, NULL);
  SlClipFiles *files = sl_clip_files_of (folder, stem);
  if (files == NULL)
    return sl_fail_null (error, SL_ERROR_OPEN, "the clip is gone");
  sl_clip_files_free (files);
  g_mutex_lock (&cache->lock);
  SlMp4 *mp4 = find (cache, key);
  const gboolean busy = mp4 == NULL && cache->busy >= SL_MP4_MOST;
  cache->busy += mp4 == NULL && !busy ? 1 : 0;
  g_mutex_unlock (&cache->lock);
  if (mp4 != NULL)
    return mp4;
  if (busy)
    return sl_fail_null (error, SL_ERROR_BACKEND,
                         "%d clips are being prepared: try again in a few seconds", SL_MP4_MOST);
  mp4 = make (cache, folder, stem, error);
  g_mutex_lock (&cache->lock);
  cache->busy--;
  if (mp4 != NULL)
    keep (cache, g_steal_pointer (&key), mp4);
  g_mutex_unlock (&cache->lock);
  return mp4;
}
