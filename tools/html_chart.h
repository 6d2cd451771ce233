/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Charts of HTML pages as SVG, in the colours of the page. Coordinates are those of the data; what
 * is outside of the axes is not drawn.
 */
#pragma once

#include <glib.h>

/** SlChart: @title, @x_name, @y_name: texts. The axes go from @x_min to @x_max, and from 0 to
 * @y_max. */
typedef struct
{
  const char *title, *x_name, *y_name;
  gdouble x_min, x_max, y_max;
} SlChart;

/** SlChartPoint: a point of a line. */
typedef struct
{
  gdouble x, y;
} SlChartPoint;

typedef enum
{
  SL_CHART_MAIN,  /* what the chart is about */
  SL_CHART_FAINT, /* one of many */
  SL_CHART_GUIDE  /* what it is compared with */
} SlChartLine;

void sl_chart_begin (GString *page, const SlChart *chart);
/** sl_chart_line: @points, of which those that no pixel shows are skipped. @name: (nullable): what
 * a browser shows for it. */
void sl_chart_line (GString *page, const SlChart *chart, const SlChartPoint *points, guint n,
                    SlChartLine line, const char *name);
/** sl_chart_dot: a point with a text beside it. */
void sl_chart_dot (GString *page, const SlChart *chart, gdouble x, gdouble y, const char *text);
/** sl_chart_bar: a bar of height @y from @x to @to; @name: what a browser shows for it. */
void sl_chart_bar (GString *page, const SlChart *chart, gdouble x, gdouble to, gdouble y,
                   const char *name);
void sl_chart_end (GString *page);
/** sl_chart_top: the end of an axis for values up to @most: 1, 2 or 5 times a power of ten. */
gdouble sl_chart_top (gdouble most);
