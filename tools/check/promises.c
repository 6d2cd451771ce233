/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/check/promises.h"

#include "core/base/thread_count.h"
#include "pipelines/description/element_names.h"
#include "predict/budget.h"
#include "tools/check/findings.h"

typedef struct
{
  char *name;
  gdouble rate, fps, cost; /* cost: processor seconds of a frame */
  guint priority;
} Promise;

static void
promise_clear (gpointer data)
{
  g_free (((Promise *) data)->name);
}

/* Whether its source sends less than is promised. */
static gboolean
is_slow (const Promise *promise)
{
  return promise->fps > 0 && promise->fps < promise->rate * (1 - 1e-6);
}

GArray *
sl_check_promises_new (void)
{
  GArray *promises = g_array_new (FALSE, TRUE, sizeof (Promise));
  g_array_set_clear_func (promises, promise_clear);
  return promises;
}

gboolean
sl_check_promises_add (GArray *promises, GstElement *infer, gdouble ms, gdouble fps)
{
  Promise promise = { .fps = fps };
  gint priority;
  guint threads = 1;
  g_autofree char *text = NULL;
  g_object_get (infer, "promised-rate", &promise.rate, "priority", &priority, "threads", &text,
                NULL);
  if (promise.rate <= 0)
    return FALSE;
  if (text != NULL)
    sl_threads_parse (text, &threads);
  promise.name = sl_model_element_name (infer);
  promise.priority = (guint) priority;
  promise.cost = ms / 1000 * threads;
  g_array_append_val (promises, promise);
  return TRUE;
}

/* (transfer full): the rates that @promises need cores for where they are not those promised. */
static char *
describe_slow (const GArray *promises)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < promises->len; i++) {
    const Promise *promise = &g_array_index (promises, Promise, i);
    if (is_slow (promise))
      g_string_append_printf (text, "%s%s at the %.4g frames/s that its source sends",
                              text->len > 0 ? ", " : " (", promise->name, promise->fps);
  }
  return g_string_free (g_string_append (text, text->len > 0 ? ")" : ""), FALSE);
}

static void
report (const GArray *promises, const gdouble *delivered, gdouble needed, gdouble cores,
        GArray *findings)
{
  g_autofree char *slow = describe_slow (promises);
  g_autoptr (GString) rates = g_string_new (NULL);
  for (guint i = 0; i < promises->len; i++) {
    const Promise *promise = &g_array_index (promises, Promise, i);
    if (delivered[i] < promise->rate * (1 - 1e-6))
      g_string_append_printf (rates, "%s%s %.3g of %.4g", rates->len > 0 ? ", " : "", promise->name,
                              delivered[i], promise->rate);
  }
  sl_findings_add (
    findings, SL_FINDING_ADVICE, "budget",
    "promises need %.3g cores%s, the budget has %.3g; expected frames/s: %s; promise "
    "less, take a smaller model, or state more cores in [budget]",
    needed, slow, cores, rates->str);
}

/* What @promises need, and what is advised where that is more than there is. */
static gdouble
judge (const GArray *promises, GArray *findings)
{
  const guint n = promises->len;
  const gdouble cores = sl_budget_cores ();
  g_autofree gdouble *rates = g_new (gdouble, n), *costs = g_new (gdouble, n),
                     *most = g_new (gdouble, n), *delivered = g_new (gdouble, n);
  g_autofree guint *priorities = g_new (guint, n);
  gdouble needed = 0;
  for (guint i = 0; i < n; i++) {
    const Promise *promise = &g_array_index (promises, Promise, i);
    rates[i] = promise->rate;
    costs[i] = promise->cost;
    most[i] = promise->fps;
    priorities[i] = promise->priority;
    needed += promise->cost * (is_slow (promise) ? promise->fps : promise->rate);
  }
  sl_turns_predict (rates, priorities, costs, most, n, cores, delivered);
  if (needed > cores)
    report (promises, delivered, needed, cores, findings);
  return needed;
}

void
sl_check_promises (const GArray *promises, GArray *findings)
{
  for (guint i = 0; i < promises->len; i++) {
    const Promise *promise = &g_array_index (promises, Promise, i);
    sl_findings_add (findings, SL_FINDING_FACT, "budget",
                     "%s: %.4g frames/s promised need %.3g of %.3g cores", promise->name,
                     promise->rate, promise->rate * promise->cost, sl_budget_cores ());
    if (is_slow (promise))
      sl_findings_add (findings, SL_FINDING_ADVICE, "budget",
                       "%s: %.4g frames/s promised, but the model gets %.4g; promise %.4g",
                       promise->name, promise->rate, promise->fps, promise->fps);
  }
  judge (promises, findings);
}

void
sl_check_promises_join (GArray *all, const GArray *promises, const char *name)
{
  for (guint i = 0; i < promises->len; i++) {
    Promise promise = g_array_index (promises, Promise, i);
    promise.name = g_strdup_printf ("%s/%s", name, promise.name);
    g_array_append_val (all, promise);
  }
}

void
sl_check_promises_together (const GArray *all, GArray *findings)
{
  const gdouble needed = judge (all, findings);
  sl_findings_add (findings, SL_FINDING_FACT, "budget",
                   "%u models with a promise need %.3g of %.3g cores", all->len, needed,
                   sl_budget_cores ());
}
