/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A camera's tracks, and who they are. Two boxes of a frame are never the same person. A track
 * keeps its person until that is forgotten, or another track of the frame is surer to be it.
 */
#include <string.h>

#include "core/base/fail.h"
#include "pipelines/gallery/book_private.h"

/* Tracks that are known at a time, and how long one may be unseen until it has ended. */
#define TRACKS 512
#define ENDED_US (2 * G_USEC_PER_SEC)
/* How often a person in view is noted, and how long a note may be. */
#define NOTE_US (10 * G_USEC_PER_SEC)
#define NOTE_MOST_US (G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC)
/* How often somebody who looks like two people is looked at before it is a new person. */
#define TRIES 3
/* A view whose cosine with those that are known is lower is kept, too. */
#define OTHER_VIEW 0.85
/* A view older than this, or older than half of keep=, is replaced by a new one. */
#define OLD_VIEW_US (G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC)
/* By how much a picture must be better than the one before. */
#define BETTER_PICTURE 1.1
/* Looks that are closer in time are too much the same. */
#define APART_US (G_USEC_PER_SEC / 2)

typedef struct
{
  gint32 track; /* 0 = free */
  guint tries;
  gint64 person, seen, first, noted, looked;
  gdouble confidence, cosine;
  guint64 mask;
  char *cameras; /* (nullable): of @mask */
  char *name;    /* (nullable): of @person */
  gfloat scale;  /* of its first look, in the camera's rows; 0 = none */
} Track;

struct _SlIdentityCamera
{
  SlIdentityBook *book;
  SlIdentityRules rules;
  SlIdentityPaths *paths; /* (nullable) */
  guint number;
  gsize stride;
  Track tracks[TRACKS];
  guint n_tracks; /* that were ever used */
  gint8 *rows;    /* of each track, and of the look in hand */
};

/* What the views of the gallery say of a look. */
typedef struct
{
  gdouble best;     /* cosine with the person's own views; -1 = none is known */
  gint64 best_time; /* of that view of this camera; 0 = none */
  gint64 oldest;    /* of the person's views of this camera */
  gboolean has_own; /* a view of this camera */
} Study;

const SlIdentityRules *
sl_identity_camera_rules (const SlIdentityCamera *camera)
{
  return &camera->rules;
}

/* The number and the paths of the camera. */
static gboolean
find_place (SlIdentityCamera *camera, const SlIdentityUse *use, GError **error)
{
  SlIdentityCameras *cameras = &camera->book->cameras;
  const gint number = sl_identity_cameras_number (cameras, use->camera);
  if (number < 0)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "%s: camera '%s' is one too many; expected at most %d cameras: take another "
                    "file",
                    use->path, use->camera, SL_IDENTITY_CAMERAS);
  camera->number = (guint) number;
  if (use->paths != NULL)
    camera->paths = sl_identity_paths_new (use->paths, cameras, error);
  return use->paths == NULL || camera->paths != NULL;
}

gboolean
sl_identity_use_check (const SlIdentityUse *use, GError **error)
{
  return (use->camera == NULL || sl_identity_camera_check (use->camera, error))
         && (use->paths == NULL || sl_identity_paths_check (use->paths, error))
         && sl_identity_share_check (use, error);
}

SlIdentityCamera *
sl_identity_camera_new (const SlIdentityUse *use, GError **error)
{
  if (use->length < 1 || use->length > SL_IDENTITY_LONGEST)
    return sl_fail_null (error, SL_ERROR_CONTRACT,
                         "%s: expected embeddings of 1 to %d numbers, got %u: take another model "
                         "of appearance",
                         use->path, SL_IDENTITY_LONGEST, use->length);
  if (!sl_identity_use_check (use, error))
    return NULL;
  SlIdentityBook *book = sl_identity_book_open (use, error);
  if (book == NULL)
    return NULL;
  SlIdentityCamera *camera = g_new0 (SlIdentityCamera, 1);
  camera->book = book;
  if (!find_place (camera, use, error)) {
    g_free (camera);
    g_free (sl_identity_book_close (book));
    return NULL;
  }
  camera->rules = use->rules;
  camera->stride = sl_search_stride (use->length);
  camera->rows = g_aligned_alloc0 (TRACKS + 1, camera->stride, 64);
  sl_identity_book_enter (book, camera);
  return camera;
}

static gint8 *
row_of (const SlIdentityCamera *camera, const Track *track)
{
  return camera->rows + (gsize) (track - camera->tracks) * camera->stride;
}

/* Under the lock, as all that follows. */
static void
note (SlIdentityCamera *camera, Track *track)
{
  const SlIdentityEntry entry = { .kind = SL_IDENTITY_SEEN,
                                  .person = track->person,
                                  .camera = camera->number,
                                  .first = track->first,
                                  .time = track->seen,
                                  .confidence = track->confidence,
                                  .cosine = track->cosine };
  track->noted = track->seen;
  sl_identity_book_add (camera->book, &entry);
}

static void
end_track (SlIdentityCamera *camera, Track *track)
{
  if (track->person != 0 && track->noted < track->seen)
    note (camera, track);
  g_free (track->cameras);
  g_free (track->name);
  *track = (Track){ 0 };
}

char *
sl_identity_camera_free (SlIdentityCamera *camera)
{
  if (camera == NULL)
    return NULL;
  SlIdentityBook *book = camera->book;
  g_mutex_lock (&book->lock);
  for (guint i = 0; i < camera->n_tracks; i++)
    end_track (camera, &camera->tracks[i]);
  g_mutex_unlock (&book->lock);
  sl_identity_book_leave (book, camera);
  g_aligned_free (camera->rows);
  g_free (camera->paths);
  g_free (camera);
  return sl_identity_book_close (book);
}

/* The track @id, which may be new: then in the place of one that ended, or of the oldest. */
static Track *
find_track (SlIdentityCamera *camera, gint32 id)
{
  Track *free_one = NULL;
  for (guint i = 0; i < camera->n_tracks; i++) {
    Track *track = &camera->tracks[i];
    if (track->track == id)
      return track;
    if (free_one == NULL || (free_one->track != 0 && track->seen < free_one->seen))
      free_one = track;
  }
  if (camera->n_tracks < TRACKS && (free_one == NULL || free_one->track != 0))
    free_one = &camera->tracks[camera->n_tracks++];
  end_track (camera, free_one);
  free_one->track = id;
  return free_one;
}

/* Views of the track's own person, and of @n_held others who are in the frame, too: these are
 * different persons for sure. */
static Study
study (SlIdentityCamera *camera, const Track *track, const gint8 *row, gfloat scale,
       const gint64 *held, guint n_held)
{
  SlIdentityBook *book = camera->book;
  const SlIdentityTable *table = book->table;
  Study study = { .best = -1, .oldest = G_MAXINT64 };
  for (gsize i = 0; i < table->n; i++) {
    const SlIdentityView *view = &table->views[i];
    const gboolean own = view->person == track->person;
    gboolean other = FALSE;
    for (guint k = 0; k < n_held && !own && !other; k++)
      other = held[k] == view->person;
    if (!own && !other)
      continue;
    const gdouble cosine = sl_identity_table_cosine (table, table->numbers + i * table->stride,
                                                     table->scales[i], row, scale);
    if (other) {
      sl_calibration_others (book->calibration, camera->number, view->camera, cosine);
      book->has_evidence = TRUE;
      continue;
    }
    if (view->camera == camera->number) {
      study.has_own = TRUE;
      study.oldest = MIN (study.oldest, view->time);
    }
    if (cosine > study.best) {
      study.best = cosine;
      study.best_time = view->camera == camera->number ? view->time : 0;
    }
  }
  return study;
}

static void
add_view (SlIdentityCamera *camera, const Track *track, SlIdentityKind kind, gint64 replaces,
          const gint8 *row, gfloat scale)
{
  const SlIdentityView view = { track->person, track->seen, camera->number };
  const SlIdentityEntry entry = { .kind = kind,
                                  .person = track->person,
                                  .camera = camera->number,
                                  .time = track->seen,
                                  .replaces = replaces,
                                  .row = row };
  if (sl_identity_table_add_view (camera->book->table, &view, replaces, row, scale))
    sl_identity_book_add (camera->book, &entry);
}

/* Another look at a person who is known. */
static void
learn (SlIdentityCamera *camera, Track *track, const gint8 *row, gfloat scale, const gint64 *held,
       guint n_held)
{
  SlIdentityBook *book = camera->book;
  const SlIdentityPerson *person = sl_identity_table_person (book->table, track->person);
  const Study found = study (camera, track, row, scale, held, n_held);
  if (track->scale > 0 && track->seen - track->looked >= APART_US) {
    sl_calibration_same (
      book->calibration, camera->number,
      sl_identity_table_cosine (book->table, row_of (camera, track), track->scale, row, scale));
    track->looked = track->seen;
    book->has_evidence = TRUE;
  }
  const gint64 old = MIN (OLD_VIEW_US, book->rules.keep / 2);
  if (person->n_views < SL_IDENTITY_VIEWS && (found.best < OTHER_VIEW || !found.has_own))
    add_view (camera, track, SL_IDENTITY_VIEW, 0, row, scale);
  else if (found.best_time != 0 && track->seen - found.best_time > old)
    add_view (camera, track, SL_IDENTITY_VIEW, found.best_time, row, scale);
  else if (found.has_own && track->seen - found.oldest > old)
    add_view (camera, track, SL_IDENTITY_VIEW, found.oldest, row, scale);
}

/* A new person; FALSE where no number is left, or nobody may go for them. */
static gboolean
add_person (SlIdentityCamera *camera, Track *track, const gint8 *row, gfloat scale,
            const gint64 *held, guint n_held)
{
  SlIdentityBook *book = camera->book;
  if (book->left == 0) {
    book->lost++;
    return FALSE;
  }
  if (g_hash_table_size (book->table->people) >= book->rules.most) {
    const gint64 oldest = sl_identity_table_oldest (book->table);
    for (guint i = 0; i < n_held; i++)
      if (held[i] == oldest)
        return FALSE; /* all people are in the frame */
    sl_identity_table_remove_person (book->table, oldest);
    book->has_other_rules = TRUE; /* so the file is tidied soon */
  }
  book->left--;
  track->person = book->next++;
  sl_identity_table_add_person (book->table, track->person);
  add_view (camera, track, SL_IDENTITY_NEW, 0, row, scale);
  return TRUE;
}

/* The first look at a track, or another one as long as it is not clear who it is. */
static void
recognise (SlIdentityCamera *camera, Track *track, const gint8 *row, gfloat scale,
           const gint64 *held, guint n_held)
{
  SlIdentityBook *book = camera->book;
  const SlIdentityQuestion question = { camera->number, n_held,        row,        scale,
                                        held,           camera->paths, track->seen };
  const SlIdentityMatch match =
    sl_identity_table_match (book->table, book->calibration, &book->rules, &question);
  if (match.is_unclear && ++track->tries < TRIES)
    return;
  track->person = match.person;
  if (match.person == 0 && !add_person (camera, track, row, scale, held, n_held))
    return;
  track->confidence = match.confidence;
  track->cosine = match.cosine;
  track->first = track->looked = track->seen;
  track->scale = scale;
  memcpy (row_of (camera, track), row, camera->stride);
  sl_identity_table_saw (book->table, track->person, camera->number, track->seen);
  if (match.person != 0)
    learn (camera, track, row, scale, held, n_held);
  note (camera, track);
}

/* People who are in the frame, but for @track's. Returns how many there are. */
static guint
list_held (Track *const *tracks, guint n, const Track *track, gint64 held[SL_IDENTITY_OBJECTS])
{
  guint n_held = 0;
  for (guint i = 0; i < n; i++)
    if (tracks[i] != NULL && tracks[i] != track && tracks[i]->person != 0)
      held[n_held++] = tracks[i]->person;
  return n_held;
}

/* Forgotten people are nobody's; of two tracks of one person the surer one is it. All others are
 * seen, so that a new person does not take their place. */
static void
settle (SlIdentityCamera *camera, Track *const *tracks, guint n)
{
  for (guint i = 0; i < n; i++) {
    Track *a = tracks[i];
    if (a != NULL && a->person != 0
        && sl_identity_table_person (camera->book->table, a->person) == NULL)
      a->person = 0;
    if (a != NULL)
      sl_identity_table_saw (camera->book->table, a->person, camera->number, a->seen);
    for (guint k = 0; k < i && a != NULL && a->person != 0; k++) {
      Track *b = tracks[k];
      if (b == NULL || b == a || b->person != a->person)
        continue;
      Track *less = b->confidence < a->confidence ? b : a;
      less->person = 0;
      less->tries = 0;
    }
  }
}

static void
answer (SlIdentityCamera *camera, Track *track, SlIdentityObject *object)
{
  SlIdentityBook *book = camera->book;
  const SlIdentityPerson *person = sl_identity_table_person (book->table, track->person);
  if (person == NULL)
    return;
  sl_identity_table_saw (book->table, track->person, camera->number, track->seen);
  if (person->cameras != track->mask || track->cameras == NULL) {
    g_free (track->cameras);
    track->mask = person->cameras;
    track->cameras = sl_identity_cameras_list (&book->cameras, track->mask);
  }
  if (g_strcmp0 (person->name, track->name) != 0) {
    g_free (track->name);
    track->name = g_strdup (person->name);
  }
  if (track->seen - track->noted >= NOTE_US)
    note (camera, track);
  if (track->seen - track->first >= NOTE_MOST_US)
    track->first = track->seen;
  object->person = track->person;
  object->confidence = track->confidence;
  object->cameras = track->cameras;
  object->name = track->name;
}

/* Tracks that are not seen any longer were seen until when they were. */
static void
end_unseen (SlIdentityCamera *camera, gint64 now)
{
  for (guint i = 0; i < camera->n_tracks; i++) {
    Track *track = &camera->tracks[i];
    if (track->person != 0 && track->noted < track->seen && now - track->seen > ENDED_US)
      note (camera, track);
  }
}

void
sl_identity_camera_frame (SlIdentityCamera *camera, SlIdentityObject *objects, guint n, gint64 now)
{
  SlIdentityBook *book = camera->book;
  Track *tracks[SL_IDENTITY_OBJECTS];
  gint64 held[SL_IDENTITY_OBJECTS];
  gint8 *row = camera->rows + (gsize) TRACKS * camera->stride;
  g_return_if_fail (n <= SL_IDENTITY_OBJECTS);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&book->lock);
  for (guint i = 0; i < n; i++) {
    objects[i].person = 0;
    objects[i].confidence = 0;
    objects[i].cameras = objects[i].name = NULL;
    tracks[i] = objects[i].track > 0 ? find_track (camera, objects[i].track) : NULL;
    if (tracks[i] != NULL)
      tracks[i]->seen = MAX (now, tracks[i]->seen);
  }
  settle (camera, tracks, n);
  for (guint i = 0; i < n; i++) {
    const gfloat scale = tracks[i] != NULL && objects[i].look != NULL
                           ? sl_identity_table_pack (book->table, objects[i].look, row)
                           : 0;
    if (!(scale > 0))
      continue;
    const guint n_held = list_held (tracks, n, tracks[i], held);
    if (tracks[i]->person == 0)
      recognise (camera, tracks[i], row, scale, held, n_held);
    else
      learn (camera, tracks[i], row, scale, held, n_held);
  }
  for (guint i = 0; i < n; i++)
    if (tracks[i] != NULL)
      answer (camera, tracks[i], &objects[i]);
  end_unseen (camera, now);
}

gboolean
sl_identity_camera_wants_picture (SlIdentityCamera *camera, gint64 id, gdouble score, gint64 now)
{
  SlIdentityBook *book = camera->book;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&book->lock);
  const SlIdentityPerson *person = sl_identity_table_person (book->table, id);
  return person != NULL && score > 0
         && (person->pictured == 0 || score > BETTER_PICTURE * person->picture
             || now - person->pictured > book->rules.keep / 2);
}

void
sl_identity_camera_keep_picture (SlIdentityCamera *camera, gint64 person, gdouble score, gint64 now,
                                 GBytes *jpeg)
{
  SlIdentityBook *book = camera->book;
  const SlIdentityEntry entry = { .kind = SL_IDENTITY_PICTURE,
                                  .person = person,
                                  .camera = camera->number,
                                  .time = now,
                                  .confidence = score,
                                  .jpeg = jpeg };
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&book->lock);
  sl_identity_table_picture (book->table, person, now, score);
  sl_identity_book_add (book, &entry);
}

void
sl_identity_camera_stats (SlIdentityCamera *camera, SlIdentityStats *stats)
{
  SlIdentityBook *book = camera->book;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&book->lock);
  *stats = (SlIdentityStats){ g_hash_table_size (book->table->people),
                              book->table->n,
                              book->written,
                              book->lost,
                              book->failed,
                              0,
                              0,
                              0 };
  sl_identity_share_stats (book->share, stats);
}

char *
sl_identity_camera_trouble (SlIdentityCamera *camera)
{
  SlIdentityBook *book = camera->book;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&book->lock);
  return book->trouble != NULL ? g_steal_pointer (&book->trouble)
                               : sl_identity_share_trouble (book->share);
}
