/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread of the pool keeps a request about faces from its first picture to its answer, so there
 * are never more decoded pictures than threads. It hands work to the computing threads, and waits
 * until they have answered it or the client's time is over. Each face becomes an upright square, by
 * its eyes where the model finds them, and so an embedding.
 *
 * The confidence is (1 + cosine) / 2, as DeepStack has it.
 */
#include "tools/serve/http_faces.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/graph/file_image.h"
#include "postprocess/predictions/alignment.h"
#include "tools/serve/face_gallery.h"

#define DETECTOR "face"
/* Faces of a picture that are looked at, best first. */
#define MAX_FACES 32
/* DeepStack's, where the client states none. */
#define USUAL_CONFIDENCE 0.67
#define UNKNOWN "unknown"

struct _SlHttpFaces
{
  SlHttpModel *detector, *embedder;
  SlAlignment alignment;
  SlFaceGallery *gallery;
};

/* Whole pixels, clipped to the picture, and what shows the face upright. */
typedef struct
{
  gint x, y, w, h;
  SlTurnedRect part;
} Face;

/* @pending: works that were not answered yet; @vectors: of all faces; @cause: (nullable): what went
 * wrong; @computed: microseconds of models */
struct _SlHttpErrand
{
  const SlHttpFaces *faces;
  GMutex lock;
  GCond changed;
  guint pending, n;
  Face found[MAX_FACES];
  gfloat *vectors;
  char *cause;
  gint64 computed;
};

static void
faces_free (SlHttpFaces *faces)
{
  g_clear_pointer (&faces->gallery, sl_face_gallery_free);
  g_free (faces);
}

static SlHttpModel *
find_model (const SlHttpDoor *door, const char *name)
{
  for (guint i = 0; i < door->models->len; i++) {
    SlHttpModel *model = door->models->pdata[i];
    if (strcmp (model->served->name, name) == 0)
      return model;
  }
  return NULL;
}

static gboolean
set_up (SlHttpFaces *faces, const SlServeFaces *settings, GError **error)
{
  if (faces->detector == NULL || faces->detector->finds != SL_HTTP_FINDS_OBJECTS)
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "--faces: expected a model that finds faces, called face: face=MODEL");
  if (faces->embedder->n_numbers == 0)
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "--faces %s: expected a model that makes embeddings, whose decoder is vector "
                    "without a gallery; sightline inspect says what it makes",
                    faces->embedder->served->file);
  if (!sl_alignment_parse ("face", &faces->alignment, error))
    return FALSE;
  const SlGraph *graph = sl_model_graph (faces->embedder->served->model);
  gsize size;
  g_autofree char *hash =
    sl_file_image_checksum (sl_graph_file (graph), G_CHECKSUM_SHA256, &size, error);
  if (hash == NULL)
    return FALSE;
  faces->gallery = sl_face_gallery_new (settings, faces->embedder->n_numbers, hash, error);
  return faces->gallery != NULL || sl_fail_prefix (error, "--gallery: ");
}

gboolean
sl_http_faces_open (SlHttpDoor *door, const SlServeFaces *settings, GError **error)
{
  SlHttpFaces *faces = g_new0 (SlHttpFaces, 1);
  door->faces = faces;
  door->free_faces = faces_free;
  faces->detector = find_model (door, DETECTOR);
  faces->embedder = find_model (door, settings->model);
  return set_up (faces, settings, error);
}

static void
errand_free (SlHttpErrand *errand)
{
  g_mutex_clear (&errand->lock);
  g_cond_clear (&errand->changed);
  g_free (errand->vectors);
  g_free (errand->cause);
  g_free (errand);
}

static void
begin_errand (SlHttpDoor *door, SlHttpRequest *request)
{
  SlHttpErrand *errand = g_new0 (SlHttpErrand, 1);
  errand->faces = door->faces;
  errand->vectors = g_new0 (gfloat, (gsize) MAX_FACES * door->faces->embedder->n_numbers);
  g_mutex_init (&errand->lock);
  g_cond_init (&errand->changed);
  g_mutex_lock (&door->lock);
  request->free_errand = errand_free;
  request->errand = errand;
  g_mutex_unlock (&door->lock);
}

/* Under the errand's lock. */
static void
see_faces (const SlPredictionView *prediction, gpointer data)
{
  SlHttpErrand *errand = data;
  const SlNormalizeSpec *spec = &errand->faces->embedder->spec;
  for (guint i = 0; i < prediction->n_objects && errand->n < MAX_FACES; i++) {
    const SlObjectView *object = &prediction->objects[i];
    Face *face = &errand->found[errand->n];
    *face = (Face){ .x = object->x, .y = object->y, .w = object->w, .h = object->h };
    const SlSkeleton *skeleton = sl_object_skeleton (object, prediction->skeleton);
    const double aspect = (double) spec->width / spec->height;
    if (sl_alignment_place_face (object, skeleton, prediction->width, prediction->height, aspect,
                                 &face->part)
        || sl_alignment_place (&errand->faces->alignment, object, skeleton, prediction->width,
                               prediction->height, aspect, &face->part))
      errand->n++;
  }
}

typedef struct
{
  gfloat *numbers;
  guint n;
  gboolean good;
} Vector;

/* Takes a vector of the length 1. */
static void
see_vector (const SlPredictionView *prediction, gpointer data)
{
  Vector *into = data;
  const SlVector *vector = &prediction->vector;
  double squares = 0;
  if (vector->n != into->n)
    return;
  for (guint i = 0; i < vector->n; i++)
    squares += (double) vector->values[i] * vector->values[i];
  into->good = isfinite (squares) && squares > 0;
  for (guint i = 0; i < vector->n && into->good; i++)
    into->numbers[i] = (gfloat) (vector->values[i] / sqrt (squares));
}

/* Under the errand's lock. */
static gboolean
take (SlHttpErrand *errand, const SlWork *work, void *const *outputs, GError **error)
{
  const SlHttpFaces *faces = errand->faces;
  const SlHttpReply *reply = &work->reply.http;
  const guint n = faces->embedder->n_numbers;
  if (reply->part == 0)
    return sl_http_model_see (faces->detector, outputs, &reply->geometry, see_faces, errand, error);
  Vector vector = { &errand->vectors[(gsize) (reply->part - 1) * n], n, FALSE };
  return sl_http_model_see (faces->embedder, outputs, &reply->geometry, see_vector, &vector, error)
         && (vector.good
             || sl_fail (error, SL_ERROR_CONTRACT,
                         "%s: expected an embedding with a direction, got zeros or numbers that "
                         "are not finite",
                         faces->embedder->served->name));
}

gboolean
sl_http_errand_take (SlHttpRequest *request, const SlWork *work, void *const *outputs,
                     const char *refusal, gint64 duration)
{
  SlHttpErrand *errand = request->errand;
  g_autoptr (GError) error = NULL;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&errand->lock);
  const gboolean good = refusal == NULL && take (errand, work, outputs, &error);
  if (!good && errand->cause == NULL)
    errand->cause = g_strdup (refusal != NULL ? refusal : error->message);
  errand->computed += duration;
  errand->pending--;
  g_cond_broadcast (&errand->changed);
  return good;
}

/* Waits for the models. FALSE with @error set; @status 0 where the client's time is over. */
static gboolean
wait (SlHttpRequest *request, guint *status, GError **error)
{
  SlHttpErrand *errand = request->errand;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&errand->lock);
  while (errand->pending > 0)
    if (!g_cond_wait_until (&errand->changed, &errand->lock, request->deadline)) {
      *status = 0;
      return sl_fail (error, SL_ERROR_LIMIT, "the client's time is over");
    }
  *status = 500;
  return errand->cause == NULL || sl_fail (error, SL_ERROR_BACKEND, "%s", errand->cause);
}

static gboolean
hand_on (SlHttpDoor *door, SlHttpRequest *request, const SlHttpModel *model,
         const GdkPixbuf *pixels, guint part, GError **error)
{
  SlHttpErrand *errand = request->errand;
  const SlTurnedRect *where = part > 0 ? &errand->found[part - 1].part : NULL;
  SlWork *work = sl_http_work_new (request, model, pixels, where, error);
  if (work == NULL)
    return FALSE;
  work->reply.http.part = part;
  g_mutex_lock (&errand->lock);
  errand->pending++;
  g_mutex_unlock (&errand->lock);
  sl_serve_worker_take (door->worker, work);
  return TRUE;
}

/* The faces of @pixels, into the errand. */
static gboolean
find_faces (SlHttpDoor *door, SlHttpRequest *request, const GdkPixbuf *pixels, guint *status,
            GError **error)
{
  request->errand->n = 0;
  return hand_on (door, request, door->faces->detector, pixels, 0, error)
         && wait (request, status, error);
}

/* The embeddings of faces @first to @end, without that one. */
static gboolean
embed (SlHttpDoor *door, SlHttpRequest *request, const GdkPixbuf *pixels, guint first, guint end,
       guint *status, GError **error)
{
  gboolean good = TRUE;
  g_autoptr (GError) cause = NULL;
  for (guint i = first; i < end && good; i++)
    good = hand_on (door, request, door->faces->embedder, pixels, i + 1, &cause);
  const gboolean whole = wait (request, status, good ? error : NULL); /* also for those before */
  if (!good)
    g_propagate_error (error, g_steal_pointer (&cause));
  return good && whole;
}

/* Server's shape of an answer; ends it. */
static void
deliver (SlHttpRequest *request, GString *json)
{
  request->asked.end = request->asked.start + request->errand->computed;
  sl_http_append_times (json, &request->asked);
  g_string_append_c (json, '}');
  sl_http_request_deliver (request, 200, json);
}

static GString *
begin_json (const SlHttpRequest *request, const SlHttpDoor *door)
{
  return sl_http_begin_json (TRUE, 200, request->asked.command,
                             door->faces->embedder->served->name);
}

/* One person of an answer. Returns the name (transfer full). */
static char *
append_person (GString *json, const SlHttpFaces *faces, const Face *face, const gfloat *vector,
               gfloat least)
{
  gfloat cosine;
  char *name = sl_face_gallery_find (faces->gallery, vector, least, &cosine);
  g_string_append (json, json->str[json->len - 1] == '[' ? "{" : ",{");
  sl_json_append_text (json, "userid", name != NULL ? name : UNKNOWN);
  sl_json_append_number (json, "confidence", name != NULL ? (1 + cosine) / 2 : 0, 6);
  sl_json_append_count (json, "x_min", (guint) face->x);
  sl_json_append_count (json, "y_min", (guint) face->y);
  sl_json_append_count (json, "x_max", (guint) (face->x + face->w));
  sl_json_append_count (json, "y_max", (guint) (face->y + face->h));
  g_string_append_c (json, '}');
  return name != NULL ? name : g_strdup (UNKNOWN);
}

/* (transfer full) (nullable): what is wrong with the gallery's file; those whom it had before are
 * known still. */
static char *
find_damage (const SlHttpDoor *door)
{
  g_autoptr (GError) error = NULL;
  if (sl_face_gallery_refresh (door->faces->gallery, &error))
    return NULL;
  sl_serve_complain_some (door->worker, door->faces->embedder->served->name, error->message);
  return g_strdup_printf ("%s; faces are compared with the people who were known before",
                          error->message);
}

static gboolean
recognize (SlHttpDoor *door, SlHttpRequest *request, guint *status, GError **error)
{
  const SlHttpFaces *faces = door->faces;
  const SlHttpErrand *errand = request->errand;
  const gdouble asked = request->asked.min_confidence;
  const gfloat least = (gfloat) (2 * (asked < 0 ? USUAL_CONFIDENCE : asked) - 1);
  g_autoptr (GdkPixbuf) pixels = sl_http_picture_decode (&request->pictures[0], status, error);
  sl_http_request_drop_body (request);
  if (pixels == NULL || !find_faces (door, request, pixels, status, error)
      || !embed (door, request, pixels, 0, errand->n, status, error))
    return FALSE;
  g_autofree char *damage = find_damage (door);
  GString *json = begin_json (request, door);
  g_autoptr (GString) found = g_string_new (NULL);
  sl_json_append_key (json, "predictions");
  g_string_append_c (json, '[');
  for (guint i = 0; i < errand->n; i++) {
    g_autofree char *name =
      append_person (json, faces, &errand->found[i],
                     &errand->vectors[(gsize) i * faces->embedder->n_numbers], least);
    g_string_append_printf (found, "%s%s", i > 0 ? ", " : "Found ", name);
  }
  g_string_append_c (json, ']');
  sl_json_append_count (json, "count", errand->n);
  sl_json_append_text (json, "message", found->len > 0 ? found->str : "No faces found");
  if (damage != NULL)
    sl_json_append_text (json, "warning", damage);
  deliver (request, json);
  return TRUE;
}

/* The largest face of the picture @name, which must be by far the largest. */
static gboolean
choose_face (const SlHttpErrand *errand, const char *name, guint *chosen, GError **error)
{
  const Face *found = errand->found;
  guint rivals = 0;
  *chosen = 0;
  for (guint i = 1; i < errand->n; i++)
    if ((gint64) found[i].w * found[i].h > (gint64) found[*chosen].w * found[*chosen].h)
      *chosen = i;
  for (guint i = 0; i < errand->n; i++)
    rivals += 2 * (gint64) found[i].w * found[i].h >= (gint64) found[*chosen].w * found[*chosen].h;
  return rivals <= 1
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "%s: %u faces of about one size: expected a picture of one person", name,
                     rivals);
}

/* Appends the embedding of the person in @picture to @vectors, or its name to @skipped where there
 * is no face. */
static gboolean
learn (SlHttpDoor *door, SlHttpRequest *request, const SlHttpPicture *picture, GArray *vectors,
       GString *skipped, guint *status, GError **error)
{
  const SlHttpErrand *errand = request->errand;
  const guint n = door->faces->embedder->n_numbers;
  const char *name = picture->name[0] != '\0' ? picture->name : "the picture";
  guint chosen;
  g_autoptr (GdkPixbuf) pixels = sl_http_picture_decode (picture, status, error);
  if (pixels == NULL || !find_faces (door, request, pixels, status, error))
    return sl_fail_prefix (error, "%s: ", name);
  if (errand->n == 0) {
    g_string_append (skipped, skipped->len > 0 ? "," : "");
    sl_json_append_string (skipped, name);
    return TRUE;
  }
  *status = 400;
  if (!choose_face (errand, name, &chosen, error))
    return FALSE;
  *status = 500;
  if (!embed (door, request, pixels, chosen, chosen + 1, status, error))
    return FALSE;
  g_array_append_vals (vectors, &errand->vectors[(gsize) chosen * n], n);
  return TRUE;
}

static gboolean
register_person (SlHttpDoor *door, SlHttpRequest *request, guint *status, GError **error)
{
  const guint length = door->faces->embedder->n_numbers;
  g_autoptr (GArray) vectors = g_array_new (FALSE, FALSE, sizeof (gfloat));
  g_autoptr (GString) skipped = g_string_new (NULL);
  gboolean known;
  for (guint i = 0; i < request->n_pictures; i++)
    if (!learn (door, request, &request->pictures[i], vectors, skipped, status, error))
      return FALSE;
  sl_http_request_drop_body (request);
  const guint n = vectors->len / length;
  if (n == 0) {
    *status = 400;
    return sl_fail (error, SL_ERROR_ARGUMENT, "no face detected: expected a picture of a face");
  }
  if (!sl_face_gallery_set (door->faces->gallery, request->user,
                            (const gfloat *) (gconstpointer) vectors->data, n, &known, error))
    return FALSE;
  GString *json = begin_json (request, door);
  sl_json_append_text (json, "message", known ? "face updated" : "face added");
  sl_json_append_count (json, "registered", n);
  g_string_append_printf (json, ",\"skipped\":[%s]", skipped->str);
  deliver (request, json);
  return TRUE;
}

static gboolean
list (SlHttpDoor *door, SlHttpRequest *request, guint *status, GError **error)
{
  g_auto (GStrv) names = sl_face_gallery_names (door->faces->gallery, error);
  if (names == NULL)
    return FALSE;
  GString *json = begin_json (request, door);
  sl_json_append_key (json, "faces");
  g_string_append_c (json, '[');
  for (guint i = 0; names[i] != NULL; i++) {
    g_string_append (json, i > 0 ? "," : "");
    sl_json_append_string (json, names[i]);
  }
  g_string_append_c (json, ']');
  deliver (request, json);
  return TRUE;
}

static gboolean
forget (SlHttpDoor *door, SlHttpRequest *request, guint *status, GError **error)
{
  gboolean known;
  if (!sl_face_gallery_remove (door->faces->gallery, request->user, &known, error))
    return FALSE;
  GString *json = begin_json (request, door);
  sl_json_append_text (json, "message", known ? "face deleted" : "there was no such face");
  deliver (request, json);
  return TRUE;
}

void
sl_http_faces_answer (SlHttpDoor *door, SlHttpRequest *request)
{
  static gboolean (*const acts[]) (SlHttpDoor *, SlHttpRequest *, guint *, GError **) = {
    [SL_HTTP_RECOGNIZE] = recognize,
    [SL_HTTP_REGISTER] = register_person,
    [SL_HTTP_FACES] = list,
    [SL_HTTP_FORGET] = forget,
  };
  g_autoptr (GError) error = NULL;
  guint status = 500;
  begin_errand (door, request);
  if (acts[request->asked.form](door, request, &status, &error))
    return;
  sl_http_request_drop_body (request);
  if (status == 0)
    return; /* the server's thread answers it */
  if (status >= 500)
    sl_serve_complain_some (door->worker, door->faces->embedder->served->name, error->message);
  sl_http_request_fail (request, status, error->message);
}
