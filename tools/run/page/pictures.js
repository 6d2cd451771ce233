/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures with the time at which they came: snapshots that repeat, and the parts of a stream. Both know how old what they show is. */

import { Refused, address, ask, json, query } from "./api.js";
import { el } from "./dom.js";

const LATE = 10000, HEAD_MOST = 4096, PART_MOST = 16 << 20;
/** A picture that is older than this is not live. */
export const STALE = 3000;

/** Shows pictures on a canvas of its own (node), one at a time: a browser keeps decoded pictures of an <img> for long. Its taken is the time
 * of the newest; @label: (nullable): what a screen reader says; @resized (width, height) is called with the first and when the size changes. */
export class Screen {
  constructor(label, resized) {
    this.node = el("canvas.picture", label ? { role: "img", "aria-label": label, width: 0, height: 0 } : { "aria-hidden": "true", width: 0, height: 0 });
    this.pen = this.node.getContext("bitmaprenderer");
    this.resized = resized;
    this.taken = null;
    this.turn = 0;
  }
  async show(blob) {
    const mine = ++this.turn, picture = await createImageBitmap(blob), { width, height } = picture;
    if (mine !== this.turn) { picture.close(); return; }
    const changed = this.node.width !== width || this.node.height !== height;
    if (changed) Object.assign(this.node, { width, height });
    this.pen.transferFromImageBitmap(picture);
    this.taken = Date.now();
    if (changed) this.resized?.(width, height);
  }
  age() { return this.taken === null ? null : Date.now() - this.taken; }
}

export async function snapshot(name, width, boxes, signal) {
  const answer = await ask(address("pipelines", name, "snapshot.jpg") + query({ boxes, width }),
    { signal: AbortSignal.any ? AbortSignal.any([signal, AbortSignal.timeout(LATE)]) : signal });
  return answer.blob();
}

function join(a, b) {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}
function find(data, first, second) {
  for (let i = 0; i + 1 < data.length; i++) if (data[i] === first && data[i + 1] === second) return i;
  return -1;
}
/** The end of the empty line behind the headers of a part, -1 where it has not come. */
function headEnd(data) {
  for (let i = 3; i < data.length && i < HEAD_MOST; i++)
    if (data[i] === 10 && data[i - 1] === 13 && data[i - 2] === 10 && data[i - 3] === 13) return i + 1;
  return -1;
}

/** One part from the front of @data: [picture or null, what is left]. */
export function part(data) {
  const end = headEnd(data);
  if (end < 0) {
    if (data.length > HEAD_MOST) throw new Error("a part of the stream has no headers");
    return [null, data];
  }
  const length = /content-length:\s*(\d+)/i.exec(new TextDecoder().decode(data.subarray(0, end)));
  const size = length ? Number(length[1]) : find(data.subarray(end), 0xff, 0xd9) + 2;
  if (size > PART_MOST) throw new Error("a part of the stream is too large");
  if (size < 2 || data.length < end + size) return [null, data];
  return [data.slice(end, end + size), data.subarray(end + size)];
}

/** Reads pictures of a stream until it ends; @silent: milliseconds without one after which it is given up. */
async function read(name, show, signal, silent) {
  const end = new AbortController(), stop = () => end.abort();
  signal.addEventListener("abort", stop, { once: true });
  let timer = setTimeout(stop, LATE);
  try {
    const answer = await ask(address("pipelines", name, "stream.mjpg") + "?boxes=0", { signal: end.signal });
    const reader = answer.body.getReader();
    let data = new Uint8Array(0);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      data = join(data, value);
      for (let [picture, rest] = part(data); ; [picture, rest] = part(data)) {
        data = rest;
        if (!picture) break;
        clearTimeout(timer);
        timer = setTimeout(stop, silent);
        show(new Blob([picture], { type: "image/jpeg" }));
      }
    }
  } finally {
    clearTimeout(timer);
    end.abort();
    signal.removeEventListener("abort", stop);
  }
}

/** Live pictures of a pipeline: of its stream, or snapshots where others watch already. @told (text) says why there are none. */
export function live(life, name, screen, told) {
  const control = { paused: false };
  let running = null;
  const once = async () => {
    if (control.paused) return;
    running = new AbortController();
    const signal = running.signal;
    life.signal.addEventListener("abort", () => running.abort(), { once: true });
    const show = blob => {
      if (!control.paused) screen.show(blob).then(() => told(""), error => told(String(error.message)));
    };
    try {
      await read(name, show, signal, 5000);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refused)) throw error;
      told(error.message);
      if (error.status !== 503 && error.status !== 429) throw error;
      show(await snapshot(name, 960, 0, signal));
    }
  };
  const now = life.every(1000, once);
  life.on(document, "visibilitychange", () => { if (document.hidden) running?.abort(); });
  control.pause = paused => {
    control.paused = paused;
    if (paused) running?.abort(); else now();
  };
  return control;
}

/** Predictions as they come, by events; it asks again after 2 s when they end. */
export function predictions(life, name, show) {
  let source = null;
  const open = () => {
    source?.close();
    source = null;
    if (document.hidden || life.signal.aborted) return;
    source = new EventSource(address("pipelines", name, "predictions"));
    source.onmessage = event => {
      let prediction;
      try { prediction = JSON.parse(event.data); } catch { return; }
      show(prediction);
    };
    source.onerror = () => {
      source?.close();
      source = null;
      life.after(2000, () => { if (!source) open(); });
    };
  };
  open();
  life.on(document, "visibilitychange", open);
  life.signal.addEventListener("abort", () => source?.close(), { once: true });
}

const sizes = new Map();
export async function pipelines() {
  const list = (await json(address("pipelines"))).pipelines;
  for (const { name, width, height } of list) sizes.set(name, [width, height]);
  return list;
}
/** [width, height] of the newest frame, as pipelines() said last; both undefined for a pipeline that it did not name. */
export const size = name => sizes.get(name) || [];
