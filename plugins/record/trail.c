/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame is a cell with its time and the number of objects, and a cell for each of these. */
#include "plugins/record/trail.h"

#include <string.h>

#include "core/base/json.h"

#define NO_LABEL G_MAXUINT16
#define UNIT 65535.0
#define CELL 16

/* @label: index of the name; others in 1/65535 */
typedef struct
{
  guint16 label, confidence;
  gint32 id;
  guint16 x, y, w, h;
} Object;

typedef union
{
  struct
  {
    GstClockTime time;
    guint32 n_objects;
  } frame;
  Object object;
} Cell;

G_STATIC_ASSERT (sizeof (Cell) == CELL);

struct _SlTrailPart
{
  GArray *cells;     /* of Cell */
  GPtrArray *labels; /* of char * */
  gboolean cut;
};

void
sl_trail_init (SlTrail *trail)
{
  *trail = (SlTrail){ .cells = g_array_new (FALSE, FALSE, sizeof (Cell)),
                      .labels = g_ptr_array_new_with_free_func (g_free),
                      .empty = TRUE };
}

void
sl_trail_clear (SlTrail *trail)
{
  g_clear_pointer (&trail->cells, g_array_unref);
  g_clear_pointer (&trail->labels, g_ptr_array_unref);
}

void
sl_trail_forget (SlTrail *trail)
{
  g_array_set_size (trail->cells, 0);
  trail->first = 0;
  trail->cut = FALSE;
  trail->empty = TRUE;
}

/* Texts that were read differ from object to object, and have no place among names. */
static guint16
label_index (SlTrail *trail, const SlObjectView *object)
{
  guint i = 0;
  if (object->label_id == SL_TEXT_ID)
    return NO_LABEL;
  while (i < trail->labels->len && strcmp (trail->labels->pdata[i], object->label) != 0)
    i++;
  if (i == SL_TRAIL_LABELS)
    return NO_LABEL;
  if (i == trail->labels->len)
    g_ptr_array_add (trail->labels, g_strdup (object->label));
  return (guint16) i;
}

static guint16
to_unit (gdouble value)
{
  return value > 0 ? (guint16) (MIN (value, 1) * UNIT + 0.5) : 0;
}

void
sl_trail_put (SlTrail *trail, GstClockTime time, const SlPredictionView *prediction)
{
  const guint n = prediction != NULL ? prediction->n_objects : 0;
  if (n == 0 && trail->empty)
    return;
  if (trail->cells->len - trail->first + n + 1 > SL_TRAIL_CELLS) {
    trail->cut = TRUE;
    return;
  }
  Cell cell = { .frame = { time, n } };
  g_array_append_val (trail->cells, cell);
  for (guint i = 0; i < n; i++) {
    const SlObjectView *object = &prediction->objects[i];
    cell = (Cell){ .object = { label_index (trail, object), to_unit (object->confidence),
                               object->object_id, to_unit (object->x_min), to_unit (object->y_min),
                               to_unit (object->x_max - object->x_min),
                               to_unit (object->y_max - object->y_min) } };
    g_array_append_val (trail->cells, cell);
  }
  trail->empty = n == 0;
}

void
sl_trail_trim (SlTrail *trail, GstClockTime since)
{
  while (trail->first < trail->cells->len) {
    const Cell *cell = &g_array_index (trail->cells, Cell, trail->first);
    if (cell->frame.time >= since)
      break;
    trail->first += cell->frame.n_objects + 1;
    trail->cut = FALSE;
  }
  /* Half of it at a time, so that each cell moves once. */
  if (trail->first > 0 && 2 * trail->first >= trail->cells->len) {
    g_array_remove_range (trail->cells, 0, trail->first);
    trail->first = 0;
  }
}

static gpointer
copy_name (gconstpointer name, gpointer data)
{
  return g_strdup (name);
}

SlTrailPart *
sl_trail_part (const SlTrail *trail, GstClockTime from, GstClockTime to)
{
  SlTrailPart *part = g_new0 (SlTrailPart, 1);
  part->cells = g_array_new (FALSE, FALSE, sizeof (Cell));
  part->labels = g_ptr_array_copy (trail->labels, copy_name, NULL);
  g_ptr_array_set_free_func (part->labels, g_free);
  part->cut = trail->cut;
  for (guint i = trail->first; i < trail->cells->len;) {
    const Cell *cell = &g_array_index (trail->cells, Cell, i);
    const guint n = cell->frame.n_objects + 1;
    if (cell->frame.time >= from && cell->frame.time <= to)
      g_array_append_vals (part->cells, cell, n);
    i += n;
  }
  return part;
}

void
sl_trail_part_free (SlTrailPart *part)
{
  g_array_unref (part->cells);
  g_ptr_array_unref (part->labels);
  g_free (part);
}

static void
append_object (GString *out, const SlTrailPart *part, const Object *object)
{
  const guint16 numbers[] = { object->confidence, object->x, object->y, object->w, object->h };
  g_string_append (out, ",[");
  if (object->label < part->labels->len)
    g_string_append_printf (out, "%u,", object->label);
  else
    g_string_append (out, "null,");
  if (object->id > 0)
    g_string_append_printf (out, "%d", object->id);
  else
    g_string_append (out, "null");
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    g_string_append_c (out, ',');
    sl_json_append_double (out, numbers[i] / UNIT, 4);
  }
  g_string_append_c (out, ']');
}

void
sl_trail_part_append_json (GString *out, const SlTrailPart *part, GstClockTime zero)
{
  g_string_append (out, "{\"labels\":[");
  for (guint i = 0; i < part->labels->len; i++) {
    g_string_append (out, i > 0 ? "," : "");
    sl_json_append_string (out, part->labels->pdata[i]);
  }
  g_string_append_c (out, ']');
  sl_json_append_boolean (out, "cut", part->cut);
  g_string_append (out, ",\"frames\":[");
  for (guint i = 0; i < part->cells->len;) {
    const Cell *cell = &g_array_index (part->cells, Cell, i);
    g_string_append (out, i > 0 ? ",[" : "[");
    sl_json_append_double (out, (gdouble) GST_CLOCK_DIFF (zero, cell->frame.time) / GST_SECOND, 6);
    for (guint j = 1; j <= cell->frame.n_objects; j++)
      append_object (out, part, &cell[j].object);
    g_string_append_c (out, ']');
    i += cell->frame.n_objects + 1;
  }
  g_string_append (out, "]}");
}
