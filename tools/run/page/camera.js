/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One camera, large and live, with what was found drawn over it; each layer can be switched off. */

import { address, json, may } from "./api.js";
import { el, icon, keyed, setText, toggle } from "./dom.js";
import { Overlay } from "./overlay.js";
import { Screen, live, pipelines, predictions, size } from "./pictures.js";
import { counted, number, percent, t } from "./text.js";
import { ageBadge, camera, chip, stateWords } from "./wall.js";

const LAYERS = [["boxes", "b"], ["labels", "l"], ["zones", "z"], ["tracks", "t"], ["heat", "h"]], MOST = 12, LIST_MS = 500;
const KEPT = "sightline.layers";

function keptLayers() {
  try { return JSON.parse(localStorage.getItem(KEPT)) || {}; } catch { return {}; }
}
function keep(layers) {
  try { localStorage.setItem(KEPT, JSON.stringify(layers)); } catch { /* a browser that keeps nothing */ }
}

/** A frame of the shape of @picture: a <canvas> of a Screen, or an <img>; over it a canvas. Its shape (width, height) changes it. */
export function stage(picture, width, height) {
  const canvas = el("canvas", { "aria-hidden": "true" }), frame = el("div.stage", {}, picture, canvas), shape = (w, h) => { frame.style.aspectRatio = w + " / " + h; };
  if (width && height) shape(width, height);
  picture.addEventListener("load", () => { if (picture.naturalWidth) shape(picture.naturalWidth, picture.naturalHeight); });
  return { frame, canvas, shape };
}
/** A stage of live pictures. It has its shape before the first one comes, so that nothing below moves then. */
export function screenStage(name) {
  const screen = new Screen(t("camera.alt", { name }), (w, h) => made.shape(w, h)), made = stage(screen.node, ...size(name));
  return { screen, ...made };
}

export function cameraHead(name, page, after) {
  return el("div.head", {}, el("a.button.quiet.round", { href: page === "camera" ? "#/" : camera(name), "aria-label": t("back") }, icon("back")),
    el("h1", {}, page === "camera" ? name : t("head." + page, { name })), after || null);
}

function layerButtons(overlay) {
  Object.assign(overlay.on, keptLayers());
  return LAYERS.map(([layer, key]) => toggle(t("layer." + layer), null, overlay.on[layer], on => {
    overlay.on[layer] = on;
    keep(overlay.on);
    overlay.ask();
  }, key));
}

function fullscreen(node) {
  if (document.fullscreenElement) document.exitFullscreen();
  else if (node.requestFullscreen) node.requestFullscreen();
}

function keys(life, buttons, names, name) {
  life.on(document, "keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || document.querySelector("dialog")) return;
    const button = buttons.find(b => b.getAttribute("aria-keyshortcuts") === event.key.toLowerCase()), at = names().indexOf(name);
    if (button) button.click();
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step && names().length > 1 && at >= 0) location.hash = camera(names()[(at + step + names().length) % names().length]);
  });
}

function objectList(node, prediction) {
  const counts = new Map();
  for (const object of prediction.objects || []) counts.set(object.detection.label, (counts.get(object.detection.label) || 0) + 1);
  for (const label of prediction.labels || []) counts.set(label.label, percent(label.confidence));
  const rows = counts.size ? [...counts].slice(0, MOST) : [[t("camera.nothing"), ""]];
  keyed(node, rows, row => row[0], () => el("li", {}, el("span.grow"), el("b")), (item, [label, count]) => {
    setText(item.firstChild, label);
    setText(item.lastChild, typeof count === "number" ? number(count) : count);
  });
}
function regionList(node, analysis) {
  const rows = [...(analysis.zones || []).map(z => ({ kind: "zone", ...z })), ...(analysis.lines || []).map(l => ({ kind: "line", ...l }))];
  keyed(node, rows, r => r.kind + r.name, r => el("li", {}, icon(r.kind), el("span.grow"), el("span.soft")), (item, r) => {
    setText(item.children[1], r.name);
    setText(item.lastChild, counted(r) + (r.kind === "zone" ? ", " + t("count.inside", { n: r.inside }) : ""));
  });
  return rows.length > 0;
}

export async function showCamera(main, life, name) {
  const { screen, frame, canvas } = screenStage(name), overlay = new Overlay(canvas), state = chip(), told = el("p.told", { hidden: true });
  const age = ageBadge(frame, screen), objects = el("ul.list"), regions = el("ul.list"), today = el("ul.list"), layers = layerButtons(overlay);
  const regionCard = el("section.card", { hidden: true }, el("h2", {}, t("camera.now")), regions), todayCard = el("section.card", { hidden: true }, el("h2", {}, t("camera.today")), today);
  let names = [name], frozen = 0, drawn = 0;
  life.signal.addEventListener("abort", () => overlay.close(), { once: true });
  const video = live(life, name, screen, text => { told.hidden = !text; setText(told, text); });
  const pause = toggle(t("camera.pause"), "pause", false, on => video.pause(on), "p");
  const full = el("button.toggle", { "aria-keyshortcuts": "f", title: t("camera.full") + " (F)", onclick: () => fullscreen(frame) }, icon("full"), el("span", {}, t("camera.full")));
  frame.append(el("div.over", {}, state), age);
  full.hidden = !frame.requestFullscreen;
  const links = el("div.row.wrap", {}, may("configure") ? el("a.button.primary", { href: "#/zones/" + encodeURIComponent(name) }, icon("zone"), t("camera.zones")) : null,
    el("a.button", { href: "#/settings/" + encodeURIComponent(name) }, icon("settings"), t("nav.settings")),
    el("a.button", { href: "#/events?pipeline=" + encodeURIComponent(name) }, icon("events"), t("nav.events")),
    el("a.button", { href: "#/charts/" + encodeURIComponent(name) }, icon("charts"), t("nav.charts")));
  main.replaceChildren(cameraHead(name, "camera"), el("div.split", {},
    el("div.column", {}, frame, told, el("div.row.wrap.layers", { role: "group", "aria-label": t("camera.layers") }, layers, pause, full), links),
    el("div.column", {}, todayCard, regionCard, el("section.card", {}, el("h2", {}, t("camera.objects")), objects))));
  keys(life, [...layers, pause, full], () => names, name);
  predictions(life, name, prediction => {
    if (video.paused) return;
    overlay.set(prediction);
    if (Date.now() - drawn < LIST_MS) return;
    drawn = Date.now();
    objectList(objects, prediction);
    regionCard.hidden = !regionList(regions, prediction.analysis || {}) || !todayCard.hidden;
  });
  life.every(2000, async () => {
    const list = await pipelines(), mine = list.find(p => p.name === name);
    if (life.signal.aborted) return;
    names = list.map(p => p.name);
    if (!mine) { told.hidden = false; setText(told, t("camera.gone", { name })); return; }
    state.set(mine.level, stateWords(mine));
    frozen = mine.frame_age_ms > 3000 ? mine.frame_age_ms : 0;
    todayCard.hidden = !(mine.today || []).length;
    keyed(today, mine.today || [], r => r.kind + r.name, r => el("li", {}, icon(r.kind), el("span.grow"), el("b")), (node, r) => {
      setText(node.children[1], r.name);
      setText(node.lastChild, counted(r) + (r.kind === "zone" && r.inside ? ", " + t("count.inside", { n: r.inside }) : ""));
    });
  });
  life.every(30000, async () => {
    overlay.regions = (await json(address("pipelines", name, "regions"))).regions;
    overlay.ask();
  });
  life.every(60000, async () => {
    overlay.heat = await (await import("./charts.js")).heatToday(name);
    overlay.ask();
  });
  life.tick(500, () => {
    age.update(video.paused ? 0 : frozen);
    if (screen.age() > 3000 && !video.paused) { overlay.prediction = null; overlay.ask(); }
  });
}
