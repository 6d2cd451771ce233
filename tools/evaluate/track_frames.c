/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/evaluate/track_frames.h"

#include "tools/evaluate/assign.h"

static int
by_frame (gconstpointer a, gconstpointer b)
{
  const SlTrackedBox *x = a, *y = b;
  if (x->frame != y->frame)
    return x->frame < y->frame ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

static void
side_init (SlTrackSide *side, GArray *boxes)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  g_array_sort (boxes, by_frame);
  *side = (SlTrackSide){ .boxes = (const SlTrackedBox *) (gconstpointer) boxes->data,
                         .n = boxes->len,
                         .number = g_new (guint, boxes->len),
                         .count = g_new0 (guint, boxes->len) };
  for (guint i = 0; i < boxes->len; i++) {
    const gpointer id = GINT_TO_POINTER (side->boxes[i].id);
    if (!g_hash_table_contains (numbers, id))
      g_hash_table_insert (numbers, id, GUINT_TO_POINTER (side->objects++));
    side->number[i] = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, id));
    side->count[side->number[i]]++;
  }
}

/* The number of boxes from @from on that are in frame @frame. */
static guint
count_in (const SlTrackSide *side, guint from, guint frame)
{
  guint n = 0;
  while (from + n < side->n && side->boxes[from + n].frame == frame)
    n++;
  return n;
}

void
sl_track_frames_init (SlTrackFrames *self, GArray *truth, GArray *found)
{
  gsize most = 0;
  guint t = 0, f = 0, rows = 0;
  side_init (&self->truth, truth);
  side_init (&self->found, found);
  self->frames = g_array_new (FALSE, FALSE, sizeof (SlTrackFrame));
  while (t < self->truth.n || f < self->found.n) {
    const guint frame = MIN (t < self->truth.n ? self->truth.boxes[t].frame : G_MAXUINT,
                             f < self->found.n ? self->found.boxes[f].frame : G_MAXUINT);
    const SlTrackFrame both = { t, count_in (&self->truth, t, frame), f,
                                count_in (&self->found, f, frame) };
    g_array_append_val (self->frames, both);
    most = MAX (most, (gsize) both.n_truth * both.n_found);
    rows = MAX (rows, both.n_truth);
    t += both.n_truth;
    f += both.n_found;
  }
  self->similarity = g_new (gdouble, most);
  self->gain = g_new (gdouble, most);
  self->match = g_new (gint, rows);
}

void
sl_track_frames_clear (SlTrackFrames *self)
{
  g_array_unref (self->frames);
  for (guint i = 0; i < 2; i++) {
    SlTrackSide *side = i == 0 ? &self->truth : &self->found;
    g_free (side->number);
    g_free (side->count);
  }
  g_free (self->similarity);
  g_free (self->gain);
  g_free (self->match);
}

const SlTrackFrame *
sl_track_frames_compare (SlTrackFrames *self, guint i)
{
  const SlTrackFrame *frame = &g_array_index (self->frames, SlTrackFrame, i);
  for (guint t = 0; t < frame->n_truth; t++)
    for (guint f = 0; f < frame->n_found; f++)
      self->similarity[(gsize) t * frame->n_found + f] = sl_eval_box_overlap (
        &self->found.boxes[frame->found + f].box, &self->truth.boxes[frame->truth + t].box, FALSE);
  return frame;
}

void
sl_track_frames_match (SlTrackFrames *self, const SlTrackFrame *frame)
{
  sl_assign (self->gain, frame->n_truth, frame->n_found, self->match);
}
