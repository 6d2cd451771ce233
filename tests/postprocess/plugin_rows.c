/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoder plug-ins of the tests, one for each ROW_... that is defined: what one may be, and may
 * not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sightline/decoder_plugin.h"

static void *
open_any (const SlDecoderModel *model, char *message, size_t message_size)
{
  const char *mood = model->param (model, "mood");
  if (mood != NULL && strcmp (mood, "silent") == 0)
    return NULL;
  if (mood != NULL) {
    memset (message, 'x', message_size);
    return NULL;
  }
  return (void *) model;
}

/* One number says what is given: see tests/postprocess/plugin.c. */
static void
decode_any (void *opened, const void *const *data, SlDecoderOutput *output)
{
  const SlDecoderModel *model = opened;
  const int what = (int) sl_decoder_tensor_value (&model->tensors[0], data[0], 0);
  static const float wrong[] = { NAN, INFINITY, -INFINITY };
  static const unsigned char cells[4] = { 0, 1, 2, 255 };
  static float values[70000];
  if (what == 0)
    for (int i = 0; i < 20; i++) {
      SlDecoderBox box = { 0.25f, 0.25f, 0.5f, 0.5f, 0.9f, 1 };
      if (i < 15)
        (&box.x_min)[i % 5] = wrong[i / 5];
      else if (i < 17)
        box.class_id = i == 15 ? -1 : 2000000;
      else if (i < 19)
        box.x_max = i == 17 ? box.x_min : -1;
      else
        box.confidence = 0.1f;
      output->add_object (output, &box, NULL);
    }
  for (int i = 0; what == 1 && i < 100000; i++) {
    const float place = (float) ((i * 7919) % 100000), x = place / 100000;
    const SlDecoderBox box = { x, -2, x + 1e-6f, 3, x, i % 3 };
    const SlDecoderPoint points[2] = { { x, 0.5f, 7 }, { NAN, 0.5f, 1 } };
    output->add_object (output, &box, i % 2 == 0 ? points : NULL);
    output->add_label (output, i % 1000, x);
    output->add_label (output, -1, 1);
    output->add_label (output, 1, NAN);
  }
  if (what == 2) {
    output->set_values (output, values, 70000, 0);
    output->set_class_map (output, cells, 1u << 20, 1u << 20, 0);
  }
  if (what == 3) {
    values[1] = NAN;
    output->set_values (output, values, 3, 1);
    output->set_class_map (output, cells, 2, 2, 300);
  }
}

#if defined(ROW_GOOD)
const SlDecoderPlugin sightline_decoder = { SL_DECODER_PLUGIN_HEAD,
                                            .name = "good",
                                            .description = "any tensors",
                                            .params = (const char *const[]){ "mood", NULL },
                                            .class_names =
                                              (const char *const[]){ "zero", "one", "two", NULL },
                                            .threshold = 0.25f,
                                            .n_points = 2,
                                            .point_names =
                                              (const char *const[]){ "left", "right", NULL },
                                            .open = open_any,
                                            .decode = decode_any };
#elif defined(ROW_OTHER_ABI)
const SlDecoderPlugin sightline_decoder = { .abi = 77,
                                            .size = sizeof (SlDecoderPlugin),
                                            .name = "other",
                                            .open = open_any,
                                            .decode = decode_any };
#elif defined(ROW_SHORT)
const SlDecoderPlugin sightline_decoder = {
  .abi = 1, .size = 24, .name = "short", .open = open_any, .decode = decode_any
};
#elif defined(ROW_NAMELESS)
const SlDecoderPlugin sightline_decoder = { SL_DECODER_PLUGIN_HEAD, .name = "No Name",
                                            .open = open_any, .decode = decode_any };
#else
/* Functions, and no row. */
extern void (*const functions[]) (void);
void (*const functions[]) (void) = { (void (*) (void)) open_any, (void (*) (void)) decode_any };
#endif
