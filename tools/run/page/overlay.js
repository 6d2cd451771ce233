/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was found, drawn over a picture: boxes, labels, tracks, zones, lines, masks and heat, at the resolution of the screen. */

import { plain } from "./dom.js";
import { place } from "./labels.js";
import { keyOf, middle } from "./shapes.js";
import { percent, t } from "./text.js";

/* Labels of more objects than LABELS_MOST could not be read. */
const LABELS_MOST = 64, TRACK_MS = 6000, TRACKS_MOST = 512, POINTS_MOST = 60, FONT = 13;
/* Colours that differ for people who see few colours, too (Okabe and Ito). */
export const COLOURS = ["#56b4e9", "#e69f00", "#2fc08c", "#f0e442", "#ff7f50", "#d98bc0", "#7fa8ff"];

export function colourOf(text) {
  let sum = 0;
  for (const c of String(text)) sum = (sum * 31 + c.codePointAt(0)) >>> 0;
  return COLOURS[sum % COLOURS.length];
}
export const colourOfRegion = (region, i) => region.kind === "mask" ? "#b9c0ca" : COLOURS[i % COLOURS.length];

/** Where objects were: positions of their feet, by id. */
export class Tracks {
  constructor() { this.paths = new Map(); }
  add(prediction) {
    const now = Date.now();
    for (const object of prediction.objects || []) {
      if (!object.id) continue;
      const path = this.paths.get(object.id) || [], box = object.detection.bounding_box;
      path.push([(box.x_min + box.x_max) / 2, box.y_max, now]);
      if (path.length > POINTS_MOST) path.shift();
      if (this.paths.size < TRACKS_MOST) this.paths.set(object.id, path);
    }
    for (const [id, path] of this.paths) if (now - path[path.length - 1][2] > TRACK_MS) this.paths.delete(id);
  }
}

/** The canvas over a picture: as many pixels as the screen has there. */
export class Overlay {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.on = { boxes: true, labels: true, zones: true, tracks: false, heat: false };
    this.prediction = null;
    this.regions = [];
    this.counts = new Map();
    this.tracks = new Tracks();
    this.heat = null;
    this.asked = false;
    this.watch = new ResizeObserver(() => this.ask());
    this.watch.observe(canvas);
  }
  close() { this.watch.disconnect(); }

  /** Draws with the next frame of the screen. */
  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }
  set(prediction) {
    this.prediction = prediction;
    this.tracks.add(prediction);
    const analysis = prediction.analysis;
    if (analysis) {
      for (const zone of analysis.zones || []) this.counts.set("zone:" + zone.name, t("count.inside", { n: zone.inside }));
      for (const line of analysis.lines || []) this.counts.set("line:" + line.name, t("count.line", { in: line.in, out: line.out }));
    }
    this.ask();
  }

  draw() {
    const scale = window.devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = this.canvas;
    this.width = width;
    this.height = height;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
    }
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.pen.clearRect(0, 0, width, height);
    this.pen.lineJoin = this.pen.lineCap = "round";
    this.pen.font = "600 " + FONT + "px system-ui, sans-serif";
    if (this.on.heat && this.heat) drawHeat(this.pen, this.heat, width, height);
    if (this.on.zones) this.drawRegions();
    if (this.on.tracks) this.drawTracks();
    this.drawObjects();
  }

  path(points, closed) {
    this.pen.beginPath();
    points.forEach(([x, y], i) => this.pen[i ? "lineTo" : "moveTo"](x * this.width, y * this.height));
    if (closed) this.pen.closePath();
  }
  stroke(colour, width) {
    this.pen.strokeStyle = "rgba(0,0,0,.55)";
    this.pen.lineWidth = width + 2;
    this.pen.stroke();
    this.pen.strokeStyle = colour;
    this.pen.lineWidth = width;
    this.pen.stroke();
  }
  label(text, colour, spot) {
    this.pen.fillStyle = colour;
    this.pen.beginPath();
    this.pen.roundRect(spot.x, spot.y, spot.w, spot.h, 4);
    this.pen.fill();
    this.pen.fillStyle = "#101317";
    this.pen.textBaseline = "middle";
    this.pen.fillText(plain(text), spot.x + 6, spot.y + spot.h / 2 + 0.5);
  }
  size(text) { return [this.pen.measureText(plain(text)).width + 12, FONT + 7]; }

  drawRegions() {
    this.regions.forEach((region, i) => {
      const colour = colourOfRegion(region, i);
      this.path(region.points, region.kind !== "line");
      if (region.kind !== "line") {
        this.pen.fillStyle = colour;
        this.pen.globalAlpha = region.kind === "mask" ? 0.45 : 0.14;
        this.pen.fill();
        this.pen.globalAlpha = 1;
      }
      this.stroke(colour, 2);
    });
  }
  /* What a zone's label stands beside: its lowest side. */
  regionLabel(region, i) {
    const text = (region.name + "  " + (this.counts.get(keyOf(region)) || "")).trim(), [w] = this.size(text);
    const low = region.points.reduce((a, b) => (b[1] > a[1] ? b : a)), [x, y] = middle(region.points);
    const line = region.kind === "line";
    return { text, colour: colourOfRegion(region, i), box: { x: x * this.width - w / 2, y: (line ? y : low[1]) * this.height - 2, w, h: 4, flat: true } };
  }
  drawTracks() {
    for (const [id, path] of this.tracks.paths) {
      this.path(path, false);
      this.stroke(COLOURS[id % COLOURS.length], 2.5);
    }
  }
  drawObjects() {
    const objects = this.prediction?.objects || [], boxes = [], texts = [];
    for (const object of objects) {
      const box = object.detection.bounding_box;
      boxes.push({ x: box.x_min * this.width, y: box.y_min * this.height, w: (box.x_max - box.x_min) * this.width, h: (box.y_max - box.y_min) * this.height });
      texts.push(object.detection.label + " " + percent(object.detection.confidence));
    }
    if (this.on.boxes) boxes.forEach((box, i) => {
      this.pen.beginPath();
      this.pen.roundRect(box.x, box.y, box.w, box.h, 3);
      this.stroke(colourOf(objects[i].detection.label), 2);
    });
    const labels = this.on.labels ? texts.map((text, i) => ({ text, colour: colourOf(objects[i].detection.label), box: boxes[i] })).slice(0, LABELS_MOST) : boxes.slice(0, LABELS_MOST).map(box => ({ text: "", box }));
    if (this.on.zones) labels.push(...this.regions.filter(region => region.kind !== "mask").map((region, i) => this.regionLabel(region, i)));
    place(labels.map(l => l.box), labels.map(l => (l.text ? this.size(l.text) : [0, 0])), this.width, this.height).forEach((spot, i) => {
      if (spot && labels[i].text) this.label(labels[i].text, labels[i].colour, spot);
    });
  }
}

/** Cells of 0..255 as a soft layer from clear to yellow to red. */
export function drawHeat(pen, heat, width, height) {
  const small = document.createElement("canvas"), { cells } = heat;
  small.width = heat.width;
  small.height = heat.height;
  const inner = small.getContext("2d"), picture = inner.createImageData(heat.width, heat.height), most = Math.max(...cells) || 1;
  cells.forEach((cell, i) => {
    const part = cell / most;
    picture.data.set([255, Math.round(230 * (1 - part)), 20, part === 0 ? 0 : Math.round(60 + 150 * Math.sqrt(part))], i * 4);
  });
  inner.putImageData(picture, 0, 0);
  pen.imageSmoothingEnabled = true;
  pen.imageSmoothingQuality = "high";
  pen.drawImage(small, 0, 0, width, height);
}
