/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/serve/served_model.h"

#include <string.h>

#include "core/base/printable.h"
#include "models/state.h"
#include "pipelines/remote/topics.h"
#include "core/base/fail.h"
#include "core/base/zoo_name.h"

/* "ssd=models/a.tflite" -> "ssd" and "models/a.tflite"; a path alone gives the file's name without
 * its extension, and "zoo:ssd" the name in the zoo. */
static void
split_argument (const char *argument, char **name, char **path)
{
  const char *equals = strchr (argument, '='), *slash = strchr (argument, '/');
  const gboolean named = equals != NULL && equals > argument && (slash == NULL || equals < slash);
  *path = g_strdup (named ? equals + 1 : argument);
  const char *zoo = sl_zoo_name (*path);
  g_autofree char *base = named         ? g_strndup (argument, (gsize) (equals - argument))
                          : zoo != NULL ? g_strdup (zoo)
                                        : g_path_get_basename (argument);
  char *dot = named || zoo != NULL ? NULL : strrchr (base, '.');
  if (dot != NULL && dot > base)
    *dot = '\0';
  *name = sl_remote_name (base);
}

static gboolean
check_name (const SlServedModel *self, GError **error)
{
  g_autofree char *path = g_strconcat (self->prefix, "/", self->name, NULL), *prefix = NULL,
                  *name = NULL;
  return sl_remote_split (path, &prefix, &name, error);
}

SlServedModel *
sl_served_model_new (const char *argument, const char *prefix, const SlModelSettings *overrides,
                     const SlModelLoadOptions *options, GError **error)
{
  SlServedModel *self = g_new0 (SlServedModel, 1);
  g_autofree char *path = NULL;
  split_argument (argument, &self->name, &path);
  self->prefix = g_strdup (prefix);
  self->file = g_path_get_basename (path);
  self->batch = 1;
  sl_serve_figures_init (&self->figures);
  self->model =
    check_name (self, error) ? sl_model_load_with (path, overrides, options, error) : NULL;
  if (self->model == NULL || !sl_contract_require_range (sl_model_contract (self->model), error)
      || !sl_state_refuse (
        sl_model_graph (self->model),
        "a worker answers many who ask, in any order: run it where the frames are, with slinfer",
        error)) {
    sl_served_model_free (self);
    return NULL;
  }
  self->contract = sl_contract_ref (sl_model_contract (self->model));
  self->announcement =
    sl_remote_contract_write (self->contract, sl_remote_encodings_built (), self->hash);
  self->contract_topic = sl_remote_topic_contract (prefix, self->name);
  self->work_topic = sl_remote_topic_work (prefix, self->name, self->hash, "+");
  self->share_topic = sl_remote_topic_share (self->work_topic);
  return self;
}

static void
release_work (SlWork *work)
{
  for (guint i = 0; i < work->served->contract->n_inputs; i++)
    sl_tensor_buffer_free (work->inputs[i]);
  g_free (work);
}

void
sl_served_model_free (SlServedModel *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->spare, release_work);
  g_clear_pointer (&self->contract, sl_contract_unref);
  g_clear_pointer (&self->model, sl_model_unref);
  g_clear_pointer (&self->announcement, g_bytes_unref);
  g_free (self->prefix);
  g_free (self->name);
  g_free (self->file);
  sl_serve_figures_clear (&self->figures);
  g_free (self->contract_topic);
  g_free (self->work_topic);
  g_free (self->share_topic);
  g_free (self);
}

void
sl_served_model_announce_less (SlServedModel *self, guint encodings)
{
  char hash[SL_REMOTE_HASH];
  g_bytes_unref (self->announcement);
  self->announcement =
    sl_remote_contract_write (self->contract, encodings & sl_remote_encodings_built (), hash);
}

/* (transfer full) (nullable): a request with memory for its inputs. */
static SlWork *
take_spare (SlServedModel *served)
{
  SlWork *spare = g_atomic_pointer_get (&served->spare);
  return spare != NULL && g_atomic_pointer_compare_and_exchange (&served->spare, spare, NULL)
           ? spare
           : NULL;
}

static SlWork *
allocate_work (SlServedModel *served)
{
  const SlContract *contract = served->contract;
  SlWork *work = g_new0 (SlWork, 1);
  work->served = served;
  for (guint i = 0; i < contract->n_inputs; i++)
    if ((work->inputs[i] = sl_tensor_buffer_new_unset (contract->inputs[i].bytes)) == NULL) {
      release_work (work);
      return NULL;
    }
  return work;
}

SlWork *
sl_work_new (SlServedModel *served, char *client, gint64 life_us, GError **error)
{
  SlWork *work = take_spare (served);
  if (work == NULL)
    work = allocate_work (served);
  if (work == NULL) {
    g_free (client);
    return sl_fail_null (error, SL_ERROR_LIMIT, "request: there is no memory for its tensors");
  }
  work->client = client;
  work->arrived = g_get_monotonic_time ();
  work->until = work->arrived + life_us;
  return work;
}

void
sl_work_free (SlWork *work)
{
  if (work == NULL)
    return;
  g_clear_pointer (&work->client, g_free);
  memset (&work->reply, 0, sizeof work->reply);
  if (!g_atomic_pointer_compare_and_exchange (&work->served->spare, NULL, work))
    release_work (work);
}
