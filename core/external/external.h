/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Other runtimes, which run a whole model: they get the model file, not our graph. Their libraries
 * are opened when a model needs one, so nothing links against them. A model is loaded once and may
 * have any number of sessions. A session takes the tensors of the model file, like our own
 * sessions.
 */
#pragma once

#include <glib.h>

#include "core/graph/graph.h"

/** The names of backends, for messages. */
#define SL_BACKEND_NAMES "auto, sightline, onnxruntime or tflite"
/** The types of devices, for messages. */
#define SL_DEVICE_TYPES "auto, cpu, gpu or npu"
#define SL_DEVICE_AUTO "auto"
#define SL_BACKEND_OURS "sightline"
#define SL_BACKEND_AUTO "auto"

/**
 * SlBackendSettings: the runtime of a model, from properties; zeroed = Sightline itself.
 * @backend: (nullable): one of SL_BACKEND_NAMES; NULL or "" = sightline
 * @provider: (nullable): execution providers of ONNX Runtime in order of preference, ',' between,
 * such as "tensorrt,cuda"
 * @options: (nullable): KEY=VALUE with ',' between, for the first provider, or for the delegate
 * @delegate: (nullable): path of an external delegate of TensorFlow Lite
 * @provider_library: (nullable): path of a library with a provider of ONNX Runtime
 * @device: (nullable): which device of @provider_library: one of SL_DEVICE_TYPES or a number, from
 * 0 on; NULL or "" = the first one. Only models/load.c takes auto
 * @precision: (nullable): one of SL_PRECISION_NAMES, for what Sightline runs itself; NULL or "" =
 * float
 * @fallback: Sightline runs the model where the runtime cannot be opened, refuses the model, or
 * fails later
 */
typedef struct
{
  const char *backend, *provider, *options, *delegate, *provider_library, *device, *precision;
  gboolean fallback;
} SlBackendSettings;

/** sl_backend_settings_check: FALSE with SL_ERROR_ARGUMENT for an unknown backend or precision,
 * options that are no KEY=VALUE, and settings that the backend does not take. */
gboolean sl_backend_settings_check (const SlBackendSettings *settings, GError **error);

/** sl_backend_name_check, sl_backend_options_check: the same of one member each, (nullable). */
gboolean sl_backend_name_check (const char *name, GError **error);
gboolean sl_backend_options_check (const char *options, GError **error);
gboolean sl_backend_device_check (const char *device, GError **error);

/** sl_external_format: (transfer none) (nullable): the format of files that runtime @name takes, as
 * readers call it; NULL when @name is none. */
const char *sl_external_format (const char *name);
/** sl_external_for_format: (transfer none) (nullable): name of the runtime that takes files of
 * @format. */
const char *sl_external_for_format (const char *format);
/** sl_external_title: (transfer none): "ONNX Runtime" of "onnxruntime". */
const char *sl_external_title (const char *name);
/** sl_external_open: opens the library of runtime @name unless it is open, and checks its version.
 * Any thread. (transfer none): its version; NULL with SL_ERROR_UNSUPPORTED and what to install.
 * @library: (out) (optional) (transfer none): the file. */
const char *sl_external_open (const char *name, const char **library, GError **error);

/**
 * SlExternalDevice:
 * @type: "cpu", "gpu", "npu" or "other"
 * @provider: the execution provider that runs models on it
 * @vendor: of the hardware
 * @memory: (nullable): as the provider states it
 */
typedef struct
{
  const char *type, *provider, *vendor, *memory;
} SlExternalDevice;

typedef void (*SlExternalDeviceTake) (const SlExternalDevice *device, gpointer data);

/** sl_external_list_devices: calls @take with each device of runtime @name, or, with @path, of the
 * library of a provider at @path. TRUE without a call where the runtime has no such list. */
gboolean sl_external_list_devices (const char *name, const char *path, SlExternalDeviceTake take,
                                   gpointer data, GError **error);

typedef struct _SlExternalModel SlExternalModel;
typedef struct _SlExternalSession SlExternalSession;

/**
 * SlExternalRequest:
 * @runtime: "onnxruntime" or "tflite"
 * @path: of the model file, for files beside it and for messages
 * @bytes: of the model file, as they are there
 * @has_files: the model has weights in files beside it
 * @threads: for what runs on the processor, 1..SL_MAX_THREADS
 */
typedef struct
{
  const char *runtime, *path;
  GBytes *bytes;
  gboolean has_files;
  guint threads;
  const SlBackendSettings *settings;
} SlExternalRequest;

/** sl_external_model_new: (transfer full): NULL with SL_ERROR_UNSUPPORTED where the library is
 * missing or too old, and SL_ERROR_BACKEND with what it says where it refuses. */
SlExternalModel *sl_external_model_new (const SlExternalRequest *request, GError **error);
/** sl_external_model_share: takes @model; returns (transfer full) the existing model that was
 * shared under the same @identity, else @model, which is now shared under it. So a device has one
 * copy of its weights for all streams. */
SlExternalModel *sl_external_model_share (SlExternalModel *model, const char *identity);
/** sl_external_model_find_shared: (transfer full) (nullable): the living model that was shared
 * under @identity. */
SlExternalModel *sl_external_model_find_shared (const char *identity);
SlExternalModel *sl_external_model_ref (SlExternalModel *model);
void sl_external_model_unref (SlExternalModel *model);
/** sl_external_model_name: (transfer none): "onnxruntime". */
const char *sl_external_model_name (const SlExternalModel *model);
/** sl_external_model_title: (transfer none): "ONNX Runtime 1.20.0, CUDA", for people. */
const char *sl_external_model_title (const SlExternalModel *model);
/** sl_external_model_edges: (transfer none): inputs and outputs as the runtime has them; dimensions
 * that the model leaves open are -1. */
const SlTensor *sl_external_model_edges (const SlExternalModel *model, gboolean outputs, guint *n);
/** sl_external_model_skeleton: @graph, new and empty, gets the inputs and outputs that the runtime
 * states, and no nodes: for a model that our reader refuses. @inputs are those of
 * sl_external_model_edges() with every dimension settled. The runtime runs it once on zeros, which
 * tells the sizes of outputs. */
gboolean sl_external_model_skeleton (SlExternalModel *model, const SlTensor *inputs, SlGraph *graph,
                                     GError **error);

/** sl_external_session_new: (transfer full): for @graph, which was read from the same file, or of
 * sl_external_model_skeleton(). Inputs that are fixed in @graph are its constants, which must
 * outlive the session. NULL with SL_ERROR_SHAPE where the runtime sees other tensors. */
SlExternalSession *sl_external_session_new (SlExternalModel *model, const SlGraph *graph,
                                            GError **error);
void sl_external_session_free (SlExternalSession *session);
SlExternalModel *sl_external_session_model (const SlExternalSession *session); /* (transfer none) */
/** sl_external_session_run: as sl_session_run(), one at a time. Allocates nothing of ours. FALSE:
 * see sl_external_session_failure(). */
gboolean sl_external_session_run (SlExternalSession *session, const void *const *inputs,
                                  void *const *outputs);
/** sl_external_session_failure: (transfer none): what the runtime said of the last run that failed.
 */
const char *sl_external_session_failure (const SlExternalSession *session);
/** sl_external_session_cancel: any thread: ends a run where the runtime can, and later ones until
 * called with FALSE. */
void sl_external_session_cancel (SlExternalSession *session, gboolean cancelled);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlExternalModel, sl_external_model_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlExternalSession, sl_external_session_free)
