/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prometheus's text exposition format, version 0.0.4: what all who write it have in common. */
#pragma once

#include <stdarg.h>

#include "tools/run/process.h"

/** sl_exposition_head: what a metric is; its samples follow. */
void sl_exposition_head (GString *out, const char *name, const char *type, const char *help);
/** sl_exposition_begin: a sample's name, @metric and @suffix, and its labels: @name and @value, and
 * further names and values, NULL at the end. The number follows. */
void sl_exposition_begin (GString *out, const char *metric, const char *suffix, const char *name,
                          const char *value, va_list labels);
/** sl_exposition_histogram: the samples of a histogram of seconds, with the labels @name, whose
 * value is @value, and stage. */
void sl_exposition_histogram (GString *out, const char *metric, const char *name, const char *value,
                              const char *stage, const SlHistogram *histogram);
/** sl_exposition_process: metrics of the process. @started: seconds since 1970 */
void sl_exposition_process (GString *out, const SlProcessFigures *process, gint64 started);
