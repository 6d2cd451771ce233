/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An execution provider of ONNX Runtime in a library of its own, for tests of how such a library is
 * loaded. It takes no node, so the runtime's own kernels compute. It has two devices on the
 * processor, which state 1 and 2 GiB of memory. SIGHTLINE_TEST_PROVIDER=none: it finds no device;
 * refuse: it says that the version does not do.
 *
 * The structures are those of version 23 of the interface, in words of ours.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__ ((visibility ("default")))
#define VERSION 23

typedef struct Status Status;
typedef struct Factory Factory;
typedef struct Provider Provider;

/* What the runtime calls it with: positions in its tables. */
enum
{
  CREATE_STATUS = 0,
  CREATE_PAIRS = 295,
  ADD_PAIR = 296,
  RELEASE_PAIRS = 300,
  HARDWARE_TYPE = 307,
  GET_PROVIDER_API = 317,
  CREATE_DEVICE = 0 /* of the providers' table */
};

typedef struct
{
  const void *const *(*get_api) (uint32_t version);
  const char *(*get_version) (void);
} Base;

struct Factory
{
  uint32_t version;
  const char *(*get_name) (const Factory *);
  const char *(*get_vendor) (const Factory *);
  Status *(*get_devices) (Factory *, const void *const *hardware, size_t n, void **devices,
                          size_t most, size_t *n_devices);
  Status *(*create) (Factory *, const void *const *hardware, const void *const *metadata, size_t n,
                     const void *options, const void *logger, Provider **provider);
  void (*release) (Factory *, Provider *);
  uint32_t (*get_vendor_id) (const Factory *);
  const char *(*get_version) (const Factory *);
  void *validate;
  Status *(*create_allocator) (Factory *, const void *memory, const void *options,
                               void **allocator);
  void (*release_allocator) (Factory *, void *allocator);
  Status *(*create_transfer) (Factory *, void **transfer);
  bool (*is_stream_aware) (const Factory *);
  void *create_stream;
  void *later[16];
};

struct Provider
{
  uint32_t version;
  const char *(*get_name) (const Provider *);
  Status *(*get_capability) (Provider *, const void *graph, void *support);
  Status *(*compile) (Provider *, const void **graphs, const void **nodes, size_t n, void **infos,
                      void **contexts);
  void (*release_infos) (Provider *, void **infos, size_t n);
  void *later[24];
};

EXPORT int plugin_providers; /* that are alive */

static const void *const *api;

static void *
function (const void *const *table, size_t position)
{
  void *found;
  memcpy (&found, &table[position], sizeof found);
  return found;
}

static const char *
get_name (const Factory *factory)
{
  return "TestProvider";
}

static const char *
get_vendor (const Factory *factory)
{
  return "Nobody";
}

static Status *
create_device (Factory *factory, const void *hardware, const char *memory, void **device)
{
  void (*create_pairs) (void **) = (void (*) (void **)) function (api, CREATE_PAIRS);
  void (*add) (void *, const char *, const char *) =
    (void (*) (void *, const char *, const char *)) function (api, ADD_PAIR);
  void (*release) (void *) = (void (*) (void *)) function (api, RELEASE_PAIRS);
  const void *const *(*get_table) (void) =
    (const void *const *(*) (void) ) function (api, GET_PROVIDER_API);
  Status *(*create) (Factory *, const void *, const void *, const void *, void **) =
    (Status * (*) (Factory *, const void *, const void *, const void *, void **) )
      function (get_table (), CREATE_DEVICE);
  void *pairs = NULL;
  create_pairs (&pairs);
  add (pairs, "device_memory", memory);
  Status *status = create (factory, hardware, pairs, NULL, device);
  release (pairs);
  return status;
}

static Status *
get_devices (Factory *factory, const void *const *hardware, size_t n, void **devices, size_t most,
             size_t *n_devices)
{
  int (*type) (const void *) = (int (*) (const void *)) function (api, HARDWARE_TYPE);
  const char *asked = getenv ("SIGHTLINE_TEST_PROVIDER");
  Status *status = NULL;
  *n_devices = 0;
  if (asked != NULL && strcmp (asked, "none") == 0)
    return NULL;
  for (size_t i = 0; i < n && *n_devices == 0 && most >= 2; i++)
    if (type (hardware[i]) == 0) {
      status = create_device (factory, hardware[i], "1 GiB", &devices[0]);
      if (status == NULL)
        status = create_device (factory, hardware[i], "2 GiB", &devices[1]);
      *n_devices = status == NULL ? 2 : 0;
    }
  return status;
}

static const char *
provider_name (const Provider *provider)
{
  return get_name (NULL);
}

static Status *
get_capability (Provider *provider, const void *graph, void *support)
{
  return NULL;
}

static Status *
compile (Provider *provider, const void **graphs, const void **nodes, size_t n, void **infos,
         void **contexts)
{
  return NULL;
}

static void
release_infos (Provider *provider, void **infos, size_t n)
{
}

static Status *
create (Factory *factory, const void *const *hardware, const void *const *metadata, size_t n,
        const void *options, const void *logger, Provider **provider)
{
  *provider = calloc (1, sizeof **provider);
  (*provider)->version = VERSION;
  (*provider)->get_name = provider_name;
  (*provider)->get_capability = get_capability;
  (*provider)->compile = compile;
  (*provider)->release_infos = release_infos;
  plugin_providers++;
  return NULL;
}

static void
release (Factory *factory, Provider *provider)
{
  free (provider);
  plugin_providers--;
}

static uint32_t
get_vendor_id (const Factory *factory)
{
  return 1;
}

static const char *
get_version (const Factory *factory)
{
  return "0.1.0";
}

static Status *
create_allocator (Factory *factory, const void *memory, const void *options, void **allocator)
{
  *allocator = NULL;
  return NULL;
}

static void
release_allocator (Factory *factory, void *allocator)
{
}

static Status *
create_transfer (Factory *factory, void **transfer)
{
  *transfer = NULL;
  return NULL;
}

static bool
is_stream_aware (const Factory *factory)
{
  return false;
}

static Factory the_factory = { .version = VERSION,
                               .get_name = get_name,
                               .get_vendor = get_vendor,
                               .get_devices = get_devices,
                               .create = create,
                               .release = release,
                               .get_vendor_id = get_vendor_id,
                               .get_version = get_version,
                               .create_allocator = create_allocator,
                               .release_allocator = release_allocator,
                               .create_transfer = create_transfer,
                               .is_stream_aware = is_stream_aware };

EXPORT Status *CreateEpFactories (const char *name, const Base *base, const void *logger,
                                  Factory **factories, size_t most, size_t *n);
EXPORT Status *
CreateEpFactories (const char *name, const Base *base, const void *logger, Factory **factories,
                   size_t most, size_t *n)
{
  const char *asked = getenv ("SIGHTLINE_TEST_PROVIDER");
  *n = 0;
  api = base->get_api (VERSION);
  if (asked != NULL && strcmp (asked, "refuse") == 0) {
    Status *(*create_status) (int, const char *) =
      (Status * (*) (int, const char *) ) function (api, CREATE_STATUS);
    return create_status (1, "the test provider is for another version of ONNX Runtime");
  }
  factories[0] = &the_factory;
  *n = 1;
  return NULL;
}

EXPORT Status *ReleaseEpFactory (Factory *factory);
EXPORT Status *
ReleaseEpFactory (Factory *factory)
{
  return NULL;
}
