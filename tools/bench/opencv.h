/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the program and the module that knows OpenCV, which is C++ and so large that only a benchmark should load it.
 * The module is there only where OpenCV was found at build time.
 */
#ifndef SL_TOOLS_BENCH_OPENCV_H
#define SL_TOOLS_BENCH_OPENCV_H

#include <stdint.h>

#define SL_OPENCV_MODULE "sightline-bench-opencv.so"
#define SL_OPENCV_SYMBOL "sl_opencv_calls"

/**
 * SlOpencvJob:
 * @format: GStreamer's name of the pixel format
 * @area: INTER_AREA, else INTER_LINEAR
 * @type: 'f' float32, 'u' uint8, 'i' int8
 * @gain, @offset: of float32
 */
typedef struct
{
  const char *format;
  int width, height, out_width, out_height;
  int area;
  char type;
  double gain, offset;
} SlOpencvJob;

/**
 * SlOpencvCalls: what the module exports.
 * @create: (nullable): NULL for formats that cvtColor() does not turn into RGB
 * @run: the packed picture at @memory to an RGB tensor in NHWC
 */
typedef struct
{
  void *(*create) (const SlOpencvJob *job);
  void (*run) (void *state, const uint8_t *memory, void *tensor);
  void (*destroy) (void *state);
} SlOpencvCalls;

#endif
