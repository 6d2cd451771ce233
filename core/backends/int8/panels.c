/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The panels of a matrix product: weights in the order in which the inner loops read them. How many
 * steps a panel has is known only when it is packed. So threads pack panels into a block of the
 * arena with room for a few more than usual, or into memory of the heap: larger ones, and those of
 * layers that may be refused. These move to a second block in the end.
 */
#include <string.h>

#include "core/backends/int8/layer.h"
#include "core/backends/transpose.h"

/* Multiplications of a step of bytes and of two steps together, and what takes as long as two steps
 * of int16. */
#define STEP_COST 2
#define TWO_COST 3
#define INT16_COST 2.4
/* Most panels of a layer that are packed to find out which loops are faster. */
#define SAMPLES 8
/* Weights that a thread packs, and bytes that it copies, in a microsecond. */
#define PACKED_IN_US 1000
#define COPIED_IN_US 4000
/* Weights that are looked at together. */
#define BLOCK 8
/* Further steps for which a panel has room. */
#define SPARE 2

typedef gint8 EightBytes __attribute__ ((vector_size (8)));
typedef gint16 Eight __attribute__ ((vector_size (16)));

/** Consecutive activations of a window that one step multiplies: @k of the window, @offset where
 * they are read. */
typedef struct
{
  gint32 k, count, offset;
} Unit;

/** A unit of a channel that needs more than its first step. */
typedef struct
{
  gint32 unit, lane;
} Rest;

/** What a panel points to; @room: (nullable): of @room_bytes, in the arena. What is not there is on
 * the heap. */
typedef struct
{
  guint8 *weights, *room;
  gint32 *extra;
  gsize bytes, room_bytes;
} Parts;

/* @w: for each thread; @which: item to panel; @places: (moving) where each panel's parts go */
typedef struct
{
  const SlInt8Layer *layer;
  const Unit *units;
  gint32 n_units;
  SlInt8Weights *w;
  SlInt8Panel *panels;
  Parts *parts;
  const gint32 *which;
  gint32 *sums;
  const Parts *places;
} Job;

gint32
sl_int8_runs (const SlInt8Layer *layer)
{
  return layer->mode == SL_INT8_BANDED ? layer->window.filter_h : 1;
}

static Unit *
units_new (const SlInt8Layer *layer, gint32 *n)
{
  const gint32 unit = layer->isa->unit, runs = sl_int8_runs (layer), run = layer->depth / runs;
  const gint32 per_run = (run + unit - 1) / unit;
  Unit *units = g_new (Unit, (gsize) runs * (gsize) per_run);
  *n = runs * per_run;
  for (gint32 i = 0; i < *n; i++) {
    const gint32 at = i % per_run * unit;
    units[i] =
      (Unit){ i / per_run * run + at, MIN (unit, run - at), i / per_run * layer->line + at };
  }
  return units;
}

/* What the first step of @unit leaves of the weights of @lane. */
static void
rest_of (const SlInt8Weights *w, gint32 lane, const Unit *unit, gint16 *rest)
{
  const gsize at = (gsize) lane * (gsize) w->depth + (gsize) unit->k;
  for (gint32 i = 0; i < unit->count; i++)
    rest[i] = (gint16) (w->values[at + (gsize) i] - w->low[at + (gsize) i]);
}

/* Takes a step's weights of @rest to @to. Returns: whether @rest has some */
static gboolean
take_step (const SlInt8Weights *w, gint32 n, gint16 *rest, gint8 *to)
{
  gboolean any = FALSE;
  for (gint32 i = 0; i < n; i++)
    any |= rest[i] != 0;
  if (!any)
    return FALSE;
  sl_int8_take (w, rest, n, to);
  for (gint32 i = 0; i < n; i++)
    rest[i] = (gint16) (rest[i] - to[i]);
  return TRUE;
}

/* Whether the first steps leave something of the BLOCK weights at @at. */
static inline gboolean
differs (const SlInt8Weights *w, gsize at)
{
  EightBytes low;
  Eight values;
  guint64 halves[2];
  memcpy (&low, w->low + at, sizeof low);
  memcpy (&values, w->values + at, sizeof values);
  values -= __builtin_convertvector(low, Eight);
  memcpy (halves, &values, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

/* Further steps that the weights of @lane need for @unit. */
static guint8
further_steps (const SlInt8Weights *w, gint32 lane, const Unit *unit)
{
  gint16 rest[SL_INT8_MAX_UNIT];
  gint8 taken[SL_INT8_MAX_UNIT];
  guint8 steps = 0;
  rest_of (w, lane, unit, rest);
  while (take_step (w, unit->count, rest, taken))
    steps++;
  return steps;
}

/* Adds the units of @lane that need further steps to @rests, and to @more how many. */
static void
find_rests (const SlInt8Weights *w, gint32 lane, const Unit *units, gint32 unit, guint8 *more,
            GArray *rests)
{
  const gsize first = (gsize) lane * (gsize) w->depth;
  const gint32 per_run = (w->run + unit - 1) / unit;
  Rest last = { -1, lane };
  for (gint32 k = 0; k < w->depth;) {
    if (k + BLOCK <= w->depth && !differs (w, first + (gsize) k)) {
      k += BLOCK;
      continue;
    }
    const gint32 u = k / w->run * per_run + k % w->run / unit;
    if (u != last.unit && w->values[first + (gsize) k] != w->low[first + (gsize) k]) {
      last.unit = u;
      more[u] = MAX (more[u], further_steps (w, lane, &units[u]));
      g_array_append_val (rests, last);
    }
    k++;
  }
}

/* The first step of a unit. */
static void
pack_step (const SlInt8Weights *w, gsize element, gsize unit_bytes, const SlInt8Panel *panel,
           const Unit *unit, guint8 *to)
{
  const gsize bytes = (gsize) unit->count * element;
  const guint8 *from = (element == 2 ? (const guint8 *) w->values : (const guint8 *) w->low)
                       + (gsize) unit->k * element;
  for (gint32 lane = 0; lane < panel->channels;
       lane++, from += (gsize) w->depth * element, to += unit_bytes)
    memcpy (to, from, bytes);
}

/* The same for SL_INT8_QUAD whole units that follow each other. Units of four bytes are turned in
 * registers, those of four channels at a time. */
static void
pack_quad (const SlInt8Weights *w, gsize element, gsize unit_bytes, const SlInt8Panel *panel,
           const Unit *units, guint8 *to, gsize step_bytes)
{
  const gsize stride = (gsize) w->depth * element;
  const guint8 *from = (element == 2 ? (const guint8 *) w->values : (const guint8 *) w->low)
                       + (gsize) units->k * element;
  gint32 lane = 0;
  for (; unit_bytes == 4 && lane + 4 <= panel->channels; lane += 4)
    sl_turn (from + (gsize) lane * stride, stride, to + (gsize) lane * unit_bytes, step_bytes, 0);
  for (; lane < panel->channels; lane++)
    for (gsize u = 0; u < SL_INT8_QUAD; u++)
      memcpy (to + (gsize) lane * unit_bytes + u * step_bytes,
              from + (gsize) lane * stride + u * unit_bytes, unit_bytes);
}

static void
pack_steps (const SlInt8Isa *isa, const SlInt8Weights *w, const SlInt8Panel *panel,
            const Unit *units, gint32 n, guint8 *to, gsize step_bytes)
{
  const gsize element = isa->int16 ? 2 : 1, unit_bytes = element * (gsize) isa->unit;
  for (gint32 u = 0; u < n;) {
    const gboolean whole = u + SL_INT8_QUAD <= n && units[u + 3].count == isa->unit
                           && units[u + 3].k == units[u].k + 3 * isa->unit;
    if (whole)
      pack_quad (w, element, unit_bytes, panel, &units[u], to + (gsize) u * step_bytes, step_bytes);
    else
      pack_step (w, element, unit_bytes, panel, &units[u], to + (gsize) u * step_bytes);
    u += whole ? SL_INT8_QUAD : 1;
  }
}

/* Further steps, those of unit u from step @first[u] at @to on. */
static void
pack_rests (const SlInt8Weights *w, const Unit *units, const GArray *rests, const gint32 *first,
            gsize unit_bytes, gsize step_bytes, guint8 *to)
{
  for (guint i = 0; i < rests->len; i++) {
    const Rest *at = &g_array_index (rests, Rest, i);
    const Unit *unit = &units[at->unit];
    gint16 rest[SL_INT8_MAX_UNIT];
    guint8 *step = to + (gsize) first[at->unit] * step_bytes + (gsize) at->lane * unit_bytes;
    rest_of (w, at->lane, unit, rest);
    while (take_step (w, unit->count, rest, (gint8 *) step))
      step += step_bytes;
  }
}

/* How many units follow each other, if all @n are such runs of one length; 1 if not. */
static gint32
run_of (const gint32 *offsets, gint32 n, gint32 unit)
{
  gint32 run = 1;
  while (run < n && offsets[run] == offsets[0] + run * unit)
    run++;
  for (gint32 u = 0; u < n; u++)
    if (n % run != 0 || offsets[u] != offsets[u - u % run] + u % run * unit)
      return 1;
  return run;
}

/* Which steps multiply at offsets of their own; returns how many steps there are in all. */
static gint32
set_offsets (const SlInt8Layer *layer, const Unit *units, gint32 n_units, const guint8 *more,
             SlInt8Panel *panel, gint32 *first, gint32 *offsets)
{
  gint32 all = n_units;
  panel->steps = layer->mode == SL_INT8_BANDED || layer->isa->pairs ? 0 : n_units;
  panel->n_extra = 0;
  for (gint32 u = 0; panel->steps == 0 && u < n_units; u++)
    offsets[panel->n_extra++] = units[u].offset;
  panel->run = run_of (offsets, panel->n_extra, layer->isa->unit);
  panel->n_runs = panel->n_extra / panel->run;
  for (gint32 u = 0; u < n_units; all += more[u], u++) {
    first[u] = all;
    for (gint32 i = 0; i < more[u]; i++)
      offsets[panel->n_extra++] = units[u].offset;
  }
  return all;
}

/* Zeroed memory for the weights of a panel. */
static guint8 *
memory_for (const Parts *parts)
{
  return parts->bytes <= parts->room_bytes ? parts->room : g_malloc0 (parts->bytes);
}

/* @w holds its channels. */
static void
pack_panel (const SlInt8Layer *layer, const SlInt8Weights *w, const Unit *units, gint32 n_units,
            SlInt8Panel *panel, Parts *parts)
{
  const SlInt8Isa *isa = layer->isa;
  g_autoptr (GArray) rests = g_array_new (FALSE, FALSE, sizeof (Rest));
  g_autofree guint8 *more = g_new0 (guint8, n_units);
  g_autofree gint32 *first = g_new (gint32, n_units);
  gint32 most = n_units;
  panel->groups = (panel->channels + isa->lanes - 1) / isa->lanes;
  for (gint32 lane = 0; !isa->int16 && lane < panel->channels; lane++)
    if (w->steps[lane] > 1)
      find_rests (w, lane, units, isa->unit, more, rests);
  for (gint32 u = 0; rests->len > 0 && u < n_units; u++)
    most += more[u];
  gint32 *offsets = g_new (gint32, most);
  const gint32 all = set_offsets (layer, units, n_units, more, panel, first, offsets);
  const gsize unit_bytes = (gsize) isa->unit * (isa->int16 ? 2 : 1),
              step_bytes = (gsize) (panel->groups * isa->lanes) * unit_bytes;
  parts->bytes = step_bytes * (gsize) all;
  guint8 *weights = isa->pairs ? g_malloc0 (parts->bytes) : memory_for (parts);
  parts->weights = weights;
  pack_steps (isa, w, panel, units, n_units, weights, step_bytes);
  pack_rests (w, units, rests, first, unit_bytes, step_bytes, weights);
  parts->extra = offsets;
  if (!isa->pairs)
    return;
  parts->weights = memory_for (parts);
  parts->extra = g_new (gint32, all);
  panel->twos = sl_int8_pair_steps (all, panel->groups * isa->lanes, w->limit, weights, offsets,
                                    parts->weights, parts->extra);
  g_free (weights);
  g_free (offsets);
}

static void
pack_one (const void *data, guint item, guint thread)
{
  const Job *job = data;
  const gint32 p = job->which[item];
  SlInt8Weights *w = &job->w[thread];
  SlInt8Panel *panel = &job->panels[p];
  const gint32 width = job->layer->isa->max_groups * job->layer->isa->lanes;
  panel->channel = p * width;
  panel->channels = MIN (w->channels - panel->channel, width);
  sl_int8_weights_read (w, panel->channel, panel->channels);
  pack_panel (job->layer, w, job->units, job->n_units, panel, &job->parts[p]);
  memcpy (job->sums + panel->channel, w->sums, (gsize) panel->channels * sizeof w->sums[0]);
}

static gsize
aligned (gsize bytes)
{
  return (bytes + SL_TENSOR_ALIGN - 1) / SL_TENSOR_ALIGN * SL_TENSOR_ALIGN;
}

/* Room for each panel, if it needs few further steps. */
static void
reserve (const Job *job, gint32 n, SlArena *arena)
{
  const SlInt8Isa *isa = job->layer->isa;
  const gsize step = (gsize) (isa->max_groups * isa->lanes * isa->unit) * (isa->int16 ? 2 : 1);
  const gsize bytes = aligned (step * (gsize) (job->n_units + SPARE));
  guint8 *room = sl_tensor_alloc (arena, bytes * (gsize) n);
  for (gint32 p = 0; p < n; p++) {
    job->parts[p].room = room + bytes * (gsize) p;
    job->parts[p].room_bytes = bytes;
  }
}

static gsize
bytes_to_move (const Parts *parts)
{
  return parts->weights == parts->room ? 0 : aligned (parts->bytes);
}

static void
move_one (const void *data, guint item, guint thread)
{
  const Job *job = data;
  SlInt8Panel *panel = &job->panels[item];
  const Parts *to = &job->places[item], *from = &job->parts[item];
  if (to->weights != from->weights)
    memcpy (to->weights, from->weights, from->bytes);
  memcpy (to->extra, from->extra, (gsize) panel->n_extra * sizeof to->extra[0]);
  panel->weights = to->weights;
  panel->extra = to->extra;
}

/* What panels have on the heap goes into the arena. */
static void
move_panels (Job *job, gint32 n, SlPool *pool, SlArena *arena)
{
  g_autofree Parts *places = g_new0 (Parts, n);
  gsize bytes = 0, extra = 0;
  for (gint32 p = 0; p < n; p++) {
    bytes += bytes_to_move (&job->parts[p]);
    extra += (gsize) job->panels[p].n_extra;
  }
  guint8 *weights = bytes > 0 ? sl_tensor_alloc (arena, bytes) : NULL;
  gint32 *extras = sl_arena_alloc (arena, extra * sizeof extras[0]);
  for (gint32 p = 0; p < n; p++) {
    const gsize moves = bytes_to_move (&job->parts[p]);
    places[p].weights = moves > 0 ? weights : job->parts[p].weights;
    places[p].extra = extras;
    if (moves > 0)
      weights += moves;
    extras += job->panels[p].n_extra;
  }
  job->places = places;
  sl_pool_run (pool, move_one, job, (guint) n, (guint) MIN (bytes / COPIED_IN_US, G_MAXINT));
}

/* Panels in the order in which they are packed: the first @samples are from all over the layer. */
static gint32 *
order_of (gint32 n, gint32 samples)
{
  gint32 *which = g_new (gint32, n), done = 0;
  g_autofree guint8 *taken = g_new0 (guint8, n);
  for (gint32 i = 0; i < samples; i++) {
    which[done++] = n * i / samples;
    taken[n * i / samples] = TRUE;
  }
  for (gint32 p = 0; p < n; p++)
    if (!taken[p])
      which[done++] = p;
  return which;
}

/* Whether the first @samples panels that were packed are faster than those of int16 were. */
static gboolean
is_faster (const Job *job, gint32 samples)
{
  gdouble cost = 0;
  for (gint32 i = 0; i < samples; i++) {
    const SlInt8Panel *panel = &job->panels[job->which[i]];
    cost += TWO_COST * panel->twos + STEP_COST * (panel->n_extra - 2 * panel->twos);
  }
  return cost <= INT16_COST * samples * job->n_units;
}

const SlInt8Panel *
sl_int8_pack_panels (const SlInt8Layer *layer, const SlGraph *graph, const SlNode *node,
                     SlPool *pool, SlArena *arena, gint32 *sums)
{
  const SlInt8Isa *isa = layer->isa;
  const gboolean may_refuse = isa->pairs && layer->mode != SL_INT8_DYNAMIC;
  const gint32 n = layer->n_panels, samples = may_refuse ? MIN (n, SAMPLES) : n;
  const guint threads = sl_pool_threads (pool),
              cost = (guint) MIN ((gsize) (isa->max_groups * isa->lanes) * (gsize) layer->depth
                                    / (gdouble) PACKED_IN_US,
                                  G_MAXINT / (gdouble) n);
  g_autofree SlInt8Weights *w = g_new0 (SlInt8Weights, threads);
  g_autofree Parts *parts = g_new0 (Parts, n);
  g_autofree gint32 *which = order_of (n, samples);
  Job job = { .layer = layer,
              .w = w,
              .panels = sl_arena_alloc (arena, (gsize) n * sizeof job.panels[0]),
              .parts = parts,
              .which = which,
              .sums = sums };
  g_autofree Unit *units = units_new (layer, &job.n_units);
  job.units = units;
  for (guint i = 0; i < threads; i++)
    sl_int8_weights_init (&w[i], isa, graph, node, sl_int8_runs (layer),
                          isa->max_groups * isa->lanes);
  if (!may_refuse)
    reserve (&job, n, arena);
  sl_pool_run (pool, pack_one, &job, (guint) samples, cost * (guint) samples);
  const gboolean accepted = !may_refuse || is_faster (&job, samples);
  job.which += samples;
  if (accepted) {
    sl_pool_run (pool, pack_one, &job, (guint) (n - samples), cost * (guint) (n - samples));
    move_panels (&job, n, pool, arena);
  }
  for (guint i = 0; i < threads; i++)
    sl_int8_weights_clear (&w[i]);
  for (gint32 p = 0; p < n; p++) {
    if (parts[p].weights != parts[p].room)
      g_free (parts[p].weights);
    g_free (parts[p].extra);
  }
  return accepted ? job.panels : NULL;
}
