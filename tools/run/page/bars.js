/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Charts as SVG: bars side by side and lines, with an axis that has round numbers and a table for screen readers. */

import { el, svg } from "./dom.js";
import { COLOURS } from "./overlay.js";
import { number } from "./text.js";

const LEFT = 40, BOTTOM = 22, TOP = 8;

/** Where the axis ends: four steps of a whole number with one digit that is not 0. */
export function round(value) {
  const step = Math.max(1, value / 4), power = 10 ** Math.floor(Math.log10(step));
  return 4 * [1, 2, 3, 4, 5, 6, 8, 10].map(n => n * power).find(n => n >= step);
}
function axis(width, height, most, unit) {
  const inner = height - TOP - BOTTOM, parts = [];
  for (let i = 0; i <= 4; i++) {
    const y = TOP + inner * (1 - i / 4);
    parts.push(svg("line.grid", { x1: LEFT, x2: width, y1: y, y2: y }), svg("text.tick.end", { x: LEFT - 6, y: y + 4 }, number((most * i) / 4) + unit));
  }
  return parts;
}
function names(labels, width, height) {
  const step = (width - LEFT) / labels.length, wide = 10 + 7 * Math.max(...labels.map(label => label.length)), every = Math.max(1, Math.ceil(wide / step));
  return labels.map((label, i) => (i % every ? null : svg("text.tick.mid", { x: LEFT + step * (i + 0.5), y: height - 6 }, label)));
}
function table(title, labels, series) {
  return el("div.unseen", {}, el("table", {}, el("caption", {}, title), el("tbody", {}, el("tr", {}, el("td"), series.map(s => el("th", { scope: "col" }, s.name))),
    labels.map((label, i) => el("tr", {}, el("th", { scope: "row" }, label), series.map(s => el("td", {}, number(s.values[i], 1))))))));
}
export function legend(series) {
  return el("ul.legend", { "aria-hidden": "true" }, series.map((s, i) => {
    const swatch = el("i.swatch");
    swatch.style.background = COLOURS[i % COLOURS.length];
    return el("li", {}, swatch, s.name);
  }));
}

/** Draws anew when the width changes: @draw (width) returns an <svg>. */
function sized(draw, height) {
  const holder = el("div.chart");
  holder.style.minHeight = height + "px";
  new ResizeObserver((entries, watch) => {
    if (!holder.isConnected) { if (holder.width) watch.disconnect(); return; }
    if (holder.clientWidth && holder.width !== holder.clientWidth) {
      holder.width = holder.clientWidth;
      holder.replaceChildren(draw(holder.width));
    }
  }).observe(holder);
  return holder;
}

/** @series: [{ name, values }], one value a label. @choose (i, nullable) is called for the label that is clicked. */
export function bars(title, labels, series, { height = 200, choose = null, chosen = -1, unit = "", tell = null } = {}) {
  const most = round(Math.max(1, ...series.flatMap(s => s.values))), told = i => labels[i] + ": " + series.map(s => (series.length > 1 ? s.name + " " : "") + number(s.values[i], 1) + unit).join(", ");
  const draw = width => {
    const inner = height - TOP - BOTTOM, step = (width - LEFT) / labels.length, wide = Math.max(1, Math.min(28, (step * 0.78) / series.length));
    const columns = labels.map((label, i) => svg("g.column" + (i === chosen ? ".chosen" : ""), choose ? { tabindex: 0, role: "button", "aria-pressed": String(i === chosen), "aria-label": (tell || told)(i), onclick: () => choose(i),
      onkeydown: event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(i); } } } : {},
    svg("title", {}, (tell || told)(i)), svg("rect.hit", { x: LEFT + step * i, y: 0, width: step, height }),
    series.map((s, k) => {
      const tall = (inner * (s.values[i] || 0)) / most;
      return svg("rect", { x: LEFT + step * (i + 0.5) + wide * (k - series.length / 2), y: TOP + inner - tall, width: Math.max(1, wide - 1), height: tall, rx: Math.min(3, wide / 4), fill: COLOURS[k % COLOURS.length] });
    })));
    return svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: choose ? "group" : "img", "aria-label": title }, axis(width, height, most, unit), columns, names(labels, width, height));
  };
  return el("figure", {}, sized(draw, height), series.length > 1 ? legend(series) : null, choose ? null : table(title, labels, series));
}

/** Lines over time; a value of null leaves a gap, and one between two gaps is a dot. */
export function lines(title, labels, series, { height = 160, unit = "" } = {}) {
  const most = round(Math.max(1, ...series.flatMap(s => s.values.filter(v => v !== null))));
  const draw = width => {
    const inner = height - TOP - BOTTOM, step = (width - LEFT) / labels.length;
    const paths = series.map((s, k) => {
      let text = "", gap = true;
      s.values.forEach((v, i) => {
        if (v === null || v === undefined) { gap = true; return; }
        text += (gap ? "M" : "L") + (LEFT + step * (i + 0.5)).toFixed(1) + " " + (TOP + inner * (1 - v / most)).toFixed(1) + (gap && (s.values[i + 1] ?? null) === null ? "m-3 0h6" : "");
        gap = false;
      });
      return svg("path.curve", { d: text, stroke: COLOURS[k % COLOURS.length] });
    });
    return svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": title }, axis(width, height, most, unit), paths, names(labels, width, height));
  };
  return el("figure", {}, sized(draw, height), legend(series), table(title, labels, series));
}
