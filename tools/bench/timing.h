/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Things timed in turn, so that whatever else the machine does meets all of them: for `sightline
 * bench model` and the benchmarks.
 */
#pragma once

#include <glib.h>

/** Runs @n times and says how long each took, milliseconds. */
typedef gboolean (*SlTimedTurn) (gpointer data, guint n, double *ms, GError **error);

/** SlTimed: one of those that take turns; @ms has a place for every run. */
typedef struct
{
  const char *name;
  SlTimedTurn turn;
  gpointer data;
  double *ms;
} SlTimed;

double sl_timing_now_ms (void);
/** sl_timing_each: times @n calls of @run one by one. */
void sl_timing_each (void (*run) (gpointer data), gpointer data, guint n, double *ms);
/**
 * sl_timing_in_turn: @runs runs of each row, at most @turn of them before the next row's, a pause
 * of @pause_us before each turn; then sorts each row's times.
 * @progress: (nullable): told how many runs are done, and at the end that all are
 */
gboolean sl_timing_in_turn (const SlTimed *rows, guint n_rows, guint runs, guint turn,
                            guint pause_us, void (*progress) (guint done, guint all),
                            GError **error);
/** sl_timing_sort: shortest first. */
void sl_timing_sort (double *ms, guint n);
