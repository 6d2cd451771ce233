/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One event: its clip, frame by frame with what was found on each, and keeping, deleting and saving it. */

import { address, ask, json, may, query, session, why } from "./api.js";
import { stage } from "./camera.js";
import { confirmed, el, icon, plain, say, setText, toggle } from "./dom.js";
import { listAddress } from "./events.js";
import { Overlay } from "./overlay.js";
import { bytes, dateTime, happened, number, percent, span, t } from "./text.js";

const HALF_FRAME = 0.015, CLIP_MS = 600000;  // an event may wait so long for its clip

/* An object of a clip's trail, as predictions of a live frame have it. */
function unpacked(labels, [label, id, confidence, x, y, w, h]) {
  return { id, detection: { label: label === null ? "" : labels[label], confidence, bounding_box: { x_min: x, y_min: y, x_max: x + w, y_max: y + h } } };
}
/** The predictions of the frame at @seconds of the clip, as a live frame has them. */
export function predictionsAt(event, seconds) {
  const frames = event.trail?.frames || [];
  if (!frames.length) return Math.abs(seconds - (event.at || 0)) < 0.2 ? event.predictions : null;
  let low = 0, high = frames.length - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (frames[mid][0] <= seconds + HALF_FRAME) low = mid; else high = mid - 1;
  }
  return frames[low][0] > seconds + HALF_FRAME ? null : { objects: frames[low].slice(1).map(object => unpacked(event.trail.labels, object)) };
}

function controls(video, event, life) {
  const rate = event.frames && event.seconds ? event.frames / event.seconds : 25, length = () => (video.duration > 0 && isFinite(video.duration) ? video.duration : event.seconds || 0);
  const step = n => { video.pause(); video.currentTime = Math.max(0, Math.min(length(), video.currentTime + n / rate)); };
  const play = el("button.toggle", { "aria-keyshortcuts": "k" }, icon("play"), el("span", {}, t("player.play")));
  const show = () => play.replaceChildren(icon(video.paused ? "play" : "pause"), el("span", {}, t(video.paused ? "player.play" : "player.pause")));
  play.onclick = () => (video.paused ? video.play().catch(() => {}) : video.pause());
  for (const kind of ["play", "pause", "ended"]) video.addEventListener(kind, show);
  const bar = el("input.seek", { type: "range", min: 0, max: 1000, value: 0, "aria-label": t("player.seek") }), clock = el("span.soft.clock");
  bar.addEventListener("input", () => { video.currentTime = (bar.value / 1000) * length(); });
  const tick = () => {
    if (length() && document.activeElement !== bar) bar.value = (video.currentTime / length()) * 1000;
    setText(clock, number(video.currentTime, 2) + " / " + number(length(), 1) + " s");
    bar.setAttribute("aria-valuetext", span(video.currentTime));
  };
  for (const kind of ["timeupdate", "seeked", "loadedmetadata"]) video.addEventListener(kind, tick);
  const back = el("button.toggle", { "aria-label": t("player.back"), title: t("player.back") + " (,)", onclick: () => step(-1) }, icon("back"));
  const forward = el("button.toggle", { "aria-label": t("player.forward"), title: t("player.forward") + " (.)", onclick: () => step(1) }, icon("next"));
  life.on(document, "keydown", event => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || document.querySelector("dialog") || event.ctrlKey || event.metaKey) return;
    ({ ",": () => step(-1), ".": () => step(1), k: () => play.click() })[event.key]?.();
  });
  return el("div.player", {}, bar, el("div.row", {}, play, back, forward, clock));
}

async function keepOrNot(event, button) {
  try {
    const answer = await json(address("events", event.id, "keep"), { method: "POST", body: { keep: !event.kept } });
    event.kept = answer && answer.kept !== undefined ? answer.kept : !event.kept;
    button.setAttribute("aria-pressed", String(event.kept));
    say(t(event.kept ? "player.isKept" : "player.notKept"));
  } catch (error) {
    button.setAttribute("aria-pressed", String(event.kept));
    say(why(error), "bad");
  }
}
async function reviewOrNot(event, button, told) {
  try {
    event.reviewed = (await json(address("events", event.id, "review"), { method: "POST", body: { reviewed: !event.reviewed } })).reviewed;
  } catch (error) {
    say(why(error), "bad");
  }
  button.setAttribute("aria-pressed", String(Boolean(event.reviewed)));
  setText(told, reviewer(event));
}
function reviewer({ reviewed }) {
  return reviewed ? t("player.reviewedBy", { user: reviewed.user || "?", time: reviewed.time ? dateTime(reviewed.time) : "?" }) : "";
}
async function remove(event) {
  if (!(await confirmed(t("player.deleteTitle"), t("player.deleteText", { what: [event.label, happened(event)].filter(Boolean).join(" "), time: dateTime(event.time) }), t("player.delete"), t("cancel")))) return;
  try {
    await ask(address("events", event.id), { method: "DELETE" });
    say(t("player.deleted"));
    location.hash = listAddress;
  } catch (error) {
    say(why(error), "bad");
  }
}

function facts(event) {
  const rows = [["events.camera", event.pipeline], ["player.time", dateTime(event.time)], ["events.region", event.region], ["events.label", event.label],
    ["player.confidence", event.confidence ? percent(event.confidence) : null], ["events.color", event.color && t("color." + event.color, { or: event.color })], ["player.length", event.seconds ? span(event.seconds) : null], ["player.size", event.bytes ? bytes(event.bytes) : null]];
  return el("dl.facts", {}, rows.filter(([, value]) => value).flatMap(([key, value]) => [el("dt", {}, t(key)), el("dd", {}, value)]));
}

/** The whole clip, so that every frame of it can be reached; the server sends no parts of a file. */
async function fetchClip(event, life) {
  const answer = await ask(address("events", event.id, "clip.mp4"), { signal: life.signal }), url = URL.createObjectURL(await answer.blob());
  life.signal.addEventListener("abort", () => URL.revokeObjectURL(url), { once: true });
  return url;
}
function follow(video, event, overlay) {
  const draw = () => { overlay.prediction = predictionsAt(event, video.currentTime); overlay.ask(); };
  const frame = () => { draw(); if (!video.paused && video.isConnected) requestAnimationFrame(frame); };
  video.addEventListener("play", frame);
  for (const kind of ["seeked", "timeupdate", "loadeddata"]) video.addEventListener(kind, draw);
}

/* A complete clip takes the event's place in the list, and it may have begun with an earlier event. */
function awaitClip(event, life) {
  const at = new Date(event.time).getTime(), near = { pipeline: event.pipeline, from: new Date(at - CLIP_MS).toISOString(), to: new Date(at + 1).toISOString() };
  life.every(3000, async () => {
    const { events } = await json(address("events") + query(near), { signal: life.signal }), begun = other => new Date(other.time).getTime();
    const found = events.find(other => other.clip && begun(other) <= at && at <= begun(other) + 1000 * other.seconds);
    if (found) location.replace("#/events/" + encodeURIComponent(found.id));
  });
}

/* The clip, or the picture where there is none that a browser can play. */
function clip(event, life, told) {
  const img = el("img", { alt: "" }), { frame, canvas } = stage(img, event.width, event.height), overlay = new Overlay(canvas), video = el("video", { playsinline: true });
  life.signal.addEventListener("abort", () => overlay.close(), { once: true });
  img.alt = plain(t("player.alt", { what: [event.label, happened(event)].filter(Boolean).join(" ") }));
  if (event.picture) img.src = address("events", event.id, "picture.jpg");
  if (!event.clip) {
    const recent = event.recording || Date.now() - new Date(event.time) < CLIP_MS;
    setText(told, t(recent ? "player.notYet" : "player.noClip"));
    if (recent) awaitClip(event, life);
    return [frame];
  }
  const bar = controls(video, event, life), layer = toggle(t("layer.boxes"), null, true, on => { overlay.on.boxes = overlay.on.labels = on; overlay.ask(); });
  bar.lastChild.append(el("span.grow"), layer);
  bar.hidden = true;
  const failed = text => { bar.hidden = true; video.replaceWith(img); overlay.prediction = null; overlay.ask(); setText(told, text); };
  video.muted = true;
  video.setAttribute("aria-label", img.alt);
  follow(video, event, overlay);
  video.addEventListener("loadeddata", () => {
    frame.style.aspectRatio = video.videoWidth + " / " + video.videoHeight;
    img.replaceWith(video);
    bar.hidden = false;
    setText(told, "");
    if (event.at) video.currentTime = event.at;
  }, { once: true });
  video.addEventListener("error", () => failed(t("player.broken")), { once: true });
  setText(told, t("player.loading"));
  fetchClip(event, life).then(url => { video.src = url; }, error => { if (!life.signal.aborted) failed(why(error)); });
  return [frame, bar];
}

export async function showEvent(main, life, id) {
  const event = await json(address("events", id), { signal: life.signal }), told = el("p.told", { role: "status" });
  if (event.id !== id) { // a clip took its place
    location.replace("#/events/" + encodeURIComponent(event.id));
    return;
  }
  const what = [event.label, happened(event)].filter(Boolean).join(" ") || event.event;
  const keep = el("button.toggle", { "aria-pressed": String(Boolean(event.kept)), onclick: () => keepOrNot(event, keep) }, icon("keep"), el("span", {}, t("player.keep")));
  const seen = el("p.soft", { role: "status" }, reviewer(event)), review = el("button.toggle", { "aria-pressed": String(Boolean(event.reviewed)), onclick: () => reviewOrNot(event, review, seen) }, icon("good"), el("span", {}, t("player.reviewed")));
  const save = (file, text) => el("a.button", { href: address("events", id, file), download: "" }, icon("download"), text);
  const actions = el("div.row.wrap", {}, may("review") && event.clip ? keep : null, may("review") ? review : null, event.clip ? [save("clip.mp4", t("player.mp4")), save("clip.mkv", t("player.mkv"))] : null, event.picture ? save("picture.jpg", t("player.picture")) : null,
    event.clip && event.picture && session.search !== "none" ? el("a.button.similar", { href: "#/events" + query({ similar: id }) }, icon("search"), t("player.similar")) : null,
    may("review") && !event.recording ? el("button.danger", { onclick: () => remove(event) }, icon("bin"), t("player.delete")) : null);
  main.replaceChildren(el("div.head", {}, el("a.button.quiet.round", { href: listAddress, "aria-label": t("back") }, icon("back")), el("h1", {}, what)),
    el("div.split", {}, el("div.column", {}, clip(event, life, told), told), el("div.column", {}, el("section.card", {}, facts(event)), actions, seen)));
}
