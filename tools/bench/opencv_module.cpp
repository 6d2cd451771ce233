/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The OpenCV chain of the benchmark: cvtColor() of the whole frame, resize() of the picture, convertTo() the tensor, on one
 * thread, the intermediate pictures kept from run to run. A module of its own; see opencv.h.
 */
#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

extern "C" {
#include "tools/bench/opencv.h"
extern const SlOpencvCalls sl_opencv_calls;
}

namespace {

/* What rows of the packed picture cvtColor() takes: half as many again for chroma planes, and bytes a pixel. */
struct Format
{
  const char *name;
  int code, channels;
  bool planes;
};

const int NONE = -1;
const Format formats[] = {
  { "NV12", cv::COLOR_YUV2RGB_NV12, 1, true },
  { "NV21", cv::COLOR_YUV2RGB_NV21, 1, true },
  { "I420", cv::COLOR_YUV2RGB_I420, 1, true },
  { "YV12", cv::COLOR_YUV2RGB_YV12, 1, true },
  { "YUY2", cv::COLOR_YUV2RGB_YUY2, 2, false },
  { "UYVY", cv::COLOR_YUV2RGB_UYVY, 2, false },
  { "RGB", NONE, 3, false },
  { "BGRx", cv::COLOR_BGRA2RGB, 4, false },
};

struct State
{
  SlOpencvJob job;
  const Format *format;
  cv::Mat rgb, small;
};

void *
create (const SlOpencvJob *job)
{
  for (const Format &format : formats) {
    if (std::strcmp (format.name, job->format) != 0)
      continue;
    cv::setNumThreads (1);
    return new State{ *job, &format, cv::Mat (), cv::Mat () };
  }
  return nullptr;
}

void
run (void *data, const uint8_t *memory, void *tensor)
{
  State *state = static_cast<State *> (data);
  const SlOpencvJob &job = state->job;
  const int rows = state->format->planes ? job.height * 3 / 2 : job.height;
  const cv::Mat frame (rows, job.width, CV_8UC (state->format->channels), const_cast<uint8_t *> (memory));
  const int type = job.type == 'f' ? CV_32FC3 : job.type == 'i' ? CV_8SC3 : CV_8UC3;
  cv::Mat out (job.out_height, job.out_width, type, tensor);
  if (state->format->code != NONE)
    cv::cvtColor (frame, state->rgb, state->format->code);
  const cv::Mat &rgb = state->format->code != NONE ? state->rgb : frame;
  cv::resize (rgb, job.type == 'u' ? out : state->small, out.size (), 0, 0, job.area != 0 ? cv::INTER_AREA : cv::INTER_LINEAR);
  if (job.type == 'f')
    state->small.convertTo (out, CV_32F, job.gain, job.offset);
  else if (job.type == 'i')
    state->small.convertTo (out, CV_8S, 1, -128);
}

void
destroy (void *data)
{
  delete static_cast<State *> (data);
}

}

const SlOpencvCalls sl_opencv_calls = { create, run, destroy };
