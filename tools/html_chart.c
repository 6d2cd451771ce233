/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/html_chart.h"

#include <math.h>

#include "tools/html_page.h"

/* Of the drawing, in its own units; the browser scales it. */
#define WIDTH 420.0
#define HEIGHT 320.0
#define LEFT 52.0
#define RIGHT 16.0
#define TOP 34.0
#define BOTTOM 44.0
#define TICKS 5
/* Lines keep points that are so far apart. */
#define APART 0.4

static gdouble
across (const SlChart *chart, gdouble x)
{
  return LEFT + (x - chart->x_min) / (chart->x_max - chart->x_min) * (WIDTH - LEFT - RIGHT);
}

static gdouble
down (const SlChart *chart, gdouble y)
{
  return HEIGHT - BOTTOM - y / chart->y_max * (HEIGHT - TOP - BOTTOM);
}

static void
append_text (GString *page, gdouble x, gdouble y, const char *more, const char *text)
{
  g_string_append_printf (page, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, more);
  sl_html_append_text (page, text);
  g_string_append (page, "</text>\n");
}

static void
append_name (GString *page, const char *name)
{
  if (name == NULL)
    return;
  g_string_append (page, "<title>");
  sl_html_append_text (page, name);
  g_string_append (page, "</title>");
}

static void
append_ticks (GString *page, const SlChart *chart)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  for (guint i = 0; i <= TICKS; i++) {
    const gdouble x = chart->x_min + (chart->x_max - chart->x_min) * i / TICKS,
                  y = chart->y_max * i / TICKS;
    g_string_append_printf (page, "<path class=\"grid\" d=\"M%.1f %.1fH%.1fM%.1f %.1fV%.1f\"/>\n",
                            LEFT, down (chart, y), WIDTH - RIGHT, across (chart, x), TOP,
                            HEIGHT - BOTTOM);
    g_snprintf (text, sizeof text, "%.4g", x);
    append_text (page, across (chart, x), HEIGHT - BOTTOM + 16, "text-anchor=\"middle\"", text);
    g_snprintf (text, sizeof text, "%.4g", y);
    append_text (page, LEFT - 6, down (chart, y) + 4, "text-anchor=\"end\"", text);
  }
}

void
sl_chart_begin (GString *page, const SlChart *chart)
{
  g_string_append_printf (page, "<svg class=\"chart\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">",
                          WIDTH, HEIGHT);
  append_name (page, chart->title);
  append_text (page, LEFT, 18, "class=\"title\"", chart->title);
  append_ticks (page, chart);
  append_text (page, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "text-anchor=\"middle\"",
               chart->x_name);
  g_string_append_printf (page, "<g transform=\"translate(12 %.1f) rotate(-90)\">",
                          (TOP + HEIGHT - BOTTOM) / 2);
  append_text (page, 0, 0, "text-anchor=\"middle\"", chart->y_name);
  g_string_append (page, "</g>\n");
}

void
sl_chart_line (GString *page, const SlChart *chart, const SlChartPoint *points, guint n,
               SlChartLine line, const char *name)
{
  static const char *const classes[] = { "main", "faint", "guide" };
  gdouble last_x = -WIDTH, last_y = -HEIGHT;
  g_string_append_printf (page, "<polyline class=\"%s\" points=\"", classes[line]);
  for (guint i = 0; i < n; i++) {
    const gdouble x = across (chart, points[i].x), y = down (chart, points[i].y);
    if (!isfinite (x) || !isfinite (y)
        || (i + 1 < n && fabs (x - last_x) < APART && fabs (y - last_y) < APART))
      continue;
    g_string_append_printf (page, "%.1f,%.1f ", x, y);
    last_x = x;
    last_y = y;
  }
  g_string_append (page, "\">");
  append_name (page, name);
  g_string_append (page, "</polyline>\n");
}

void
sl_chart_dot (GString *page, const SlChart *chart, gdouble x, gdouble y, const char *text)
{
  const gboolean left = across (chart, x) > (LEFT + WIDTH) / 2, below = down (chart, y) < TOP + 24;
  g_string_append_printf (page, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n",
                          across (chart, x), down (chart, y));
  append_text (page, across (chart, x) + (left ? -8 : 8), down (chart, y) + (below ? 18 : -8),
               left ? "class=\"note\" text-anchor=\"end\"" : "class=\"note\"", text);
}

void
sl_chart_bar (GString *page, const SlChart *chart, gdouble x, gdouble to, gdouble y,
              const char *name)
{
  g_string_append_printf (
    page, "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">",
    across (chart, x) + 0.5, down (chart, y), MAX (across (chart, to) - across (chart, x) - 1, 0.5),
    down (chart, 0) - down (chart, y));
  append_name (page, name);
  g_string_append (page, "</rect>\n");
}

void
sl_chart_end (GString *page)
{
  g_string_append (page, "</svg>\n");
}

gdouble
sl_chart_top (gdouble most)
{
  if (!(most > 0) || !isfinite (most))
    return 1;
  const gdouble power = pow (10, floor (log10 (most)));
  return (most <= power ? 1 : most <= 2 * power ? 2 : most <= 5 * power ? 5 : 10) * power;
}
