/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/bench/onnxruntime.h"

#include <dlfcn.h>
#include <stdio.h>

/* The first version whose table has all of the functions below. */
#define API_VERSION 1
#define WARNING_LEVEL 2
#define ARENA_ALLOCATOR 1
#define DEFAULT_MEMORY 0
#define TYPE_UINT8 2

/* Places in the table. */
enum
{
  GET_ERROR_MESSAGE = 2,
  CREATE_ENV = 3,
  CREATE_SESSION = 7,
  RUN = 9,
  CREATE_SESSION_OPTIONS = 10,
  SET_INTRA_OP_NUM_THREADS = 24,
  SESSION_GET_INPUT_NAME = 36,
  SESSION_GET_OUTPUT_NAME = 37,
  CREATE_TENSOR_WITH_DATA = 49,
  CREATE_CPU_MEMORY_INFO = 69,
  GET_DEFAULT_ALLOCATOR = 78,
  N_FUNCTIONS
};

typedef void Function (void);
/* All of these return a status, NULL when all is well. */
typedef void *(*CreateEnv) (int level, const char *name, void **env);
typedef void *(*CreateOptions) (void **options);
typedef void *(*SetThreads) (void *options, int threads);
typedef void *(*CreateSession) (const void *env, const char *path, const void *options,
                                void **session);
typedef void *(*GetAllocator) (void **allocator);
typedef void *(*GetName) (const void *session, size_t index, void *allocator, char **name);
typedef void *(*CreateMemoryInfo) (int allocator, int type, void **info);
typedef void *(*CreateTensor) (const void *info, void *data, size_t bytes, const gint64 *shape,
                               size_t rank, int type, void **value);
typedef void *(*Run) (void *session, const void *options, const char *const *input_names,
                      const void *const *inputs, size_t n_inputs, const char *const *output_names,
                      size_t n_outputs, void **outputs);

typedef struct
{
  Function *const *(*get_api) (guint32 version);
  const char *(*get_version) (void);
} ApiBase;

struct _OrtPeer
{
  const ApiBase *base;
  Function *const *api;
  void *session, *input, *output;
  char *input_name, *output_name;
};

static gboolean
good (const OrtPeer *peer, void *status)
{
  if (status == NULL)
    return TRUE;
  fprintf (stderr, "ONNX Runtime: %s\n",
           ((const char *(*) (const void *) ) peer->api[GET_ERROR_MESSAGE]) (status));
  return FALSE;
}

static gboolean
open_session (OrtPeer *peer, const char *model, int threads)
{
  void *env = NULL, *options = NULL, *allocator = NULL;
  return good (peer, ((CreateEnv) peer->api[CREATE_ENV]) (WARNING_LEVEL, "peer", &env))
         && good (peer, ((CreateOptions) peer->api[CREATE_SESSION_OPTIONS]) (&options))
         && good (peer, ((SetThreads) peer->api[SET_INTRA_OP_NUM_THREADS]) (options, threads))
         && good (peer,
                  ((CreateSession) peer->api[CREATE_SESSION]) (env, model, options, &peer->session))
         && good (peer, ((GetAllocator) peer->api[GET_DEFAULT_ALLOCATOR]) (&allocator))
         && good (peer, ((GetName) peer->api[SESSION_GET_INPUT_NAME]) (peer->session, 0, allocator,
                                                                       &peer->input_name))
         && good (peer, ((GetName) peer->api[SESSION_GET_OUTPUT_NAME]) (peer->session, 0, allocator,
                                                                        &peer->output_name));
}

OrtPeer *
ort_peer_new (const char *library, const char *model, int threads, const gint64 *shape, gsize rank,
              void *input, gsize input_bytes, void *output, gsize classes)
{
  void *handle = dlopen (library, RTLD_NOW | RTLD_LOCAL);
  const ApiBase *(*get_base) (void) =
    handle != NULL ? (const ApiBase *(*) (void) ) dlsym (handle, "OrtGetApiBase") : NULL;
  if (get_base == NULL) {
    fprintf (stderr, "%s\n", dlerror ());
    return NULL;
  }
  OrtPeer *peer = g_new0 (OrtPeer, 1);
  peer->base = get_base ();
  peer->api = peer->base->get_api (API_VERSION);
  const gint64 result[] = { 1, (gint64) classes };
  void *info = NULL;
  if (open_session (peer, model, threads)
      && good (peer, ((CreateMemoryInfo) peer->api[CREATE_CPU_MEMORY_INFO]) (ARENA_ALLOCATOR,
                                                                             DEFAULT_MEMORY, &info))
      && good (peer, ((CreateTensor) peer->api[CREATE_TENSOR_WITH_DATA]) (
                       info, input, input_bytes, shape, rank, TYPE_UINT8, &peer->input))
      && good (peer, ((CreateTensor) peer->api[CREATE_TENSOR_WITH_DATA]) (
                       info, output, classes, result, 2, TYPE_UINT8, &peer->output)))
    return peer;
  ort_peer_free (peer);
  return NULL;
}

const char *
ort_peer_version (const OrtPeer *peer)
{
  return peer->base->get_version ();
}

gboolean
ort_peer_run (OrtPeer *peer)
{
  const char *input = peer->input_name, *output = peer->output_name;
  return good (peer, ((Run) peer->api[RUN]) (peer->session, NULL, &input,
                                             (const void *const *) &peer->input, 1, &output, 1,
                                             &peer->output));
}

/* The runtime's own objects stay until the process ends: it has one peer. */
void
ort_peer_free (OrtPeer *peer)
{
  g_free (peer);
}
