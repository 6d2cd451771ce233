/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The worker's side: pictures are decoded by a pool with a thread a job, so the server's thread
 * never waits for one. A picture may have so many pixels that all threads of the pool together need
 * little memory, and its header is read before it is decoded. Answers are written by the computing
 * threads. A request is found by its number, since its client may have gone.
 */
#include "core/base/fail.h"
#include "preprocess/warp.h"
#include "tools/run/log.h"
#include "tools/serve/http_faces.h"

#define MAX_PIXELS 40000000
#define STATUS_TOO_LARGE 413
#define STATUS_UNSUPPORTED 415

/* Kinds that cameras and programs send. The status of the answer is set where it is refused. */
static gboolean
check_picture (const SlPictureHeader *header, guint *status, GError **error)
{
  *status = STATUS_UNSUPPORTED;
  if (header->kind != SL_PICTURE_JPEG && header->kind != SL_PICTURE_PNG
      && header->kind != SL_PICTURE_WEBP && header->kind != SL_PICTURE_BMP)
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "the picture: expected JPEG, PNG, WebP or BMP, got something else");
  if (header->width > 0 && header->height > MAX_PIXELS / header->width) {
    *status = STATUS_TOO_LARGE;
    return sl_fail (error, SL_ERROR_LIMIT,
                    "the picture has %" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT
                    " pixels, expected at most %d million: reduce it",
                    header->width, header->height, MAX_PIXELS / 1000000);
  }
  return sl_picture_header_check (header, error);
}

GdkPixbuf *
sl_http_picture_decode (const SlHttpPicture *picture, guint *status, GError **error)
{
  const SlPictureHeader header = sl_picture_header_read (picture->data, picture->size);
  if (!check_picture (&header, status, error))
    return NULL;
  GdkPixbuf *pixels =
    sl_picture_load_upright (&header, picture->data, picture->size, MAX_PIXELS, error);
  *status = pixels != NULL ? 500 : 400;
  if (pixels == NULL)
    g_prefix_error (error, "the picture cannot be decoded: ");
  return pixels;
}

/* Fills the tensor of the whole picture; sets the map tensor -> picture. */
static SlNormalizeStatus
fill_whole (const SlImageInfo *info, const SlNormalizeSpec *spec, const SlImage *image,
            void *tensor, SlAffine *map)
{
  SlNormalizer *normalizer;
  const SlNormalizeStatus status = sl_normalizer_new (&normalizer, info, spec);
  if (status != SL_NORMALIZE_OK)
    return status;
  sl_normalizer_run (normalizer, image, tensor);
  *map = *sl_normalizer_map (normalizer);
  sl_normalizer_free (normalizer);
  return SL_NORMALIZE_OK;
}

/* The same of a part of it that may be turned. */
static SlNormalizeStatus
fill_part (const SlImageInfo *info, const SlNormalizeSpec *spec, const SlTurnedRect *part,
           const SlImage *image, void *tensor, SlAffine *map)
{
  SlWarp *warp = sl_warp_new ();
  const SlNormalizeStatus status =
    warp != NULL ? sl_warp_set (warp, info, spec, part) : SL_NORMALIZE_NO_MEMORY;
  if (status == SL_NORMALIZE_OK) {
    sl_warp_run (warp, image, tensor);
    *map = *sl_warp_map (warp);
  }
  sl_warp_free (warp);
  return status;
}

SlWork *
sl_http_work_new (const SlHttpRequest *request, const SlHttpModel *model, const GdkPixbuf *pixels,
                  const SlTurnedRect *part, GError **error)
{
  const SlNormalizeSpec *spec = &model->spec;
  const SlImageInfo info = { .format =
                               gdk_pixbuf_get_has_alpha (pixels) ? SL_PIXEL_RGBX : SL_PIXEL_RGB,
                             .width = gdk_pixbuf_get_width (pixels),
                             .height = gdk_pixbuf_get_height (pixels) };
  const SlImage image = { .plane = { gdk_pixbuf_read_pixels (pixels) },
                          .stride = { gdk_pixbuf_get_rowstride (pixels) } };
  SlWork *work = sl_work_new (model->served, g_strdup (request->client),
                              request->deadline - g_get_monotonic_time (), error);
  if (work == NULL)
    return NULL;
  SlFrameGeometry *geometry = &work->reply.http.geometry;
  const SlNormalizeStatus status =
    part == NULL ? fill_whole (&info, spec, &image, work->inputs[0], &geometry->affine)
                 : fill_part (&info, spec, part, &image, work->inputs[0], &geometry->affine);
  if (status != SL_NORMALIZE_OK) {
    sl_work_free (work);
    return sl_fail_null (error, SL_ERROR_BACKEND, "pictures of %dx%d: %s", info.width, info.height,
                         sl_normalize_status_text (status));
  }
  work->reply.http.id = request->id;
  geometry->tensor_width = spec->width;
  geometry->tensor_height = spec->height;
  geometry->frame_width = info.width;
  geometry->frame_height = info.height;
  return work;
}

/* (transfer full): NULL with @error and the answer's @status set. */
static SlWork *
decode (SlHttpRequest *request, guint *status, GError **error)
{
  g_autoptr (GdkPixbuf) pixels = sl_http_picture_decode (&request->pictures[0], status, error);
  return pixels != NULL ? sl_http_work_new (request, request->model, pixels, NULL, error) : NULL;
}

static void
count_refused (SlServeWorker *worker, SlServedModel *served, const char *sentence)
{
  g_mutex_lock (&worker->lock);
  served->figures.refused++;
  g_mutex_unlock (&worker->lock);
  sl_serve_complain_some (worker, served->name, sentence);
}

static void
run_model (SlHttpDoor *door, SlHttpRequest *request)
{
  g_autoptr (GError) error = NULL;
  guint status;
  SlWork *work = decode (request, &status, &error);
  sl_http_request_drop_body (request);
  if (work != NULL)
    sl_serve_worker_take (door->worker, work);
  else {
    count_refused (door->worker, request->model->served, error->message);
    sl_http_request_fail (request, status, error->message);
  }
}

static void
pool_thread (gpointer data, gpointer door)
{
  SlHttpRequest *request = data;
  request->asked.decoded = g_get_monotonic_time ();
  if (sl_http_request_is_about_faces (request))
    sl_http_faces_answer (door, request);
  else
    run_model (door, request);
  sl_http_request_unref (request);
}

static gboolean
open_door (SlServeWorker *worker, const SlServeSettings *settings, GError **error)
{
  SlHttpDoor *door = worker->http = sl_http_door_ref (settings->pictures);
  for (guint i = 0; i < worker->models->len; i++) {
    SlHttpModel *model = sl_http_model_new (worker->models->pdata[i], settings->threads, error);
    if (model == NULL)
      return FALSE;
    g_ptr_array_add (door->models, model);
  }
  if (settings->faces.model != NULL && !sl_http_faces_open (door, &settings->faces, error))
    return FALSE;
  door->most_waiting = settings->queue;
  door->pool = g_thread_pool_new (pool_thread, door, (gint) settings->jobs, FALSE, error);
  if (door->pool == NULL)
    return FALSE;
  worker->address = g_strdup ("HTTP");
  g_mutex_lock (&worker->lock);
  worker->connected = TRUE;
  worker->state = SL_SERVE_SERVING;
  g_mutex_unlock (&worker->lock);
  g_mutex_lock (&door->lock);
  door->worker = worker;
  door->is_open = TRUE;
  g_mutex_unlock (&door->lock);
  return TRUE;
}

/* (transfer full) (nullable): the request of @work, unless its client has gone. */
static SlHttpRequest *
find_request (SlHttpDoor *door, const SlWork *work)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&door->lock);
  SlHttpRequest *request = g_hash_table_lookup (door->requests, &work->reply.http.id);
  return request != NULL ? sl_http_request_ref (request) : NULL;
}

static gboolean
answer (SlServeWorker *worker, SlWork *work, void *const *outputs, const char *refusal,
        gint64 start, gint64 end)
{
  g_autoptr (GError) error = NULL;
  SlHttpRequest *request = find_request (worker->http, work);
  GString *json = NULL;
  if (request == NULL)
    return FALSE;
  if (request->errand != NULL) {
    const gboolean taken = sl_http_errand_take (request, work, outputs, refusal, end - start);
    sl_http_request_unref (request);
    return taken;
  }
  request->asked.start = start;
  request->asked.end = end;
  if (refusal == NULL)
    json = sl_http_model_answer (request->model, outputs, &work->reply.http.geometry,
                                 &request->asked, &error);
  if (json != NULL)
    sl_http_request_deliver (request, 200, json);
  else {
    const char *sentence = refusal != NULL ? refusal : error->message;
    sl_serve_complain_some (worker, work->served->name, sentence);
    sl_http_request_fail (request, 500, sentence);
  }
  sl_http_request_unref (request);
  return json != NULL;
}

static void
settle (SlServeWorker *worker)
{
}

static gboolean
has_answered (SlServeWorker *worker)
{
  return worker->queue.length == 0 && worker->busy == 0
         && g_atomic_int_get (&worker->http->n_open) == 0;
}

static gboolean
drain (SlServeWorker *worker, gint64 until)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&worker->lock);
  worker->draining = TRUE;
  worker->state = SL_SERVE_LEAVING;
  return sl_serve_worker_wait (worker, has_answered, until);
}

/* The server's thread may still run: it refuses what comes from now on. */
static void
close_door (SlServeWorker *worker)
{
  SlHttpDoor *door = g_steal_pointer (&worker->http);
  if (door == NULL)
    return;
  g_mutex_lock (&door->lock);
  door->is_open = FALSE;
  g_mutex_unlock (&door->lock);
  if (door->pool != NULL)
    g_thread_pool_free (door->pool, FALSE, TRUE);
  sl_http_door_unref (door);
}

const SlServeDoor sl_serve_http_door = { open_door, answer, settle, drain, close_door };
