/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the page says: strings/LANGUAGE.json over strings/en.json, and dates and numbers as that language writes them. */

let words = {}, locale = "en", rules = new Intl.PluralRules("en");

async function read(language) {
  const answer = await fetch("page/strings/" + language + ".json");
  if (!answer.ok) throw new Error(language);
  return answer.json();
}

/** English, and over it the first language of the browser that there is a file for. */
export async function loadWords() {
  words = await read("en");
  for (const wanted of navigator.languages || []) {
    const language = wanted.split("-")[0].toLowerCase();
    if (language !== "en") {
      if (!(words["page.languages"] || "").split(",").includes(language)) continue;
      try { words = { ...words, ...(await read(language)) }; } catch { continue; }
    }
    locale = wanted;
    break;
  }
  rules = new Intl.PluralRules(locale);
  document.documentElement.lang = locale;
}

/** The text of a key; {name} is replaced, and a key with forms takes that of the number @values.n. */
export function t(key, values = {}) {
  let text = words[key];
  if (text && typeof text === "object") text = text[rules.select(values.n)] || text.other;
  if (text === undefined) return values.or !== undefined ? values.or : key;
  return text.replace(/\{(\w+)\}/g, (all, name) => values[name] === undefined ? all : typeof values[name] === "number" ? number(values[name]) : values[name]);
}
export const known = key => words[key] !== undefined;

export function number(value, digits = 0) {
  return value === null || value === undefined ? "–" : new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value);
}
export const percent = value => new Intl.NumberFormat(locale, { style: "percent" }).format(value);

const format = (date, options) => new Intl.DateTimeFormat(locale, options).format(new Date(date));
export const clock = date => format(date, { hour: "2-digit", minute: "2-digit" });
export const exactClock = date => format(date, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
export const hourName = date => format(date, { hour: "numeric" });
export const dayName = date => format(date, { weekday: "short", day: "numeric", month: "short" });
export const dayShort = date => format(date, { day: "numeric", month: "numeric" });
export const dateTime = date => format(date, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** "14:03" today, "Mon 23 Nov, 14:03" before. */
export function when(date) {
  const today = new Date().toDateString() === new Date(date).toDateString();
  return today ? clock(date) : dayName(date) + ", " + clock(date);
}
export function bytes(value) {
  const steps = ["B", "kB", "MB", "GB", "TB"];
  let step = 0;
  for (; value >= 1000 && step < steps.length - 1; step++) value /= 1000;
  return number(value, value < 10 && step > 0 ? 1 : 0) + " " + steps[step];
}
/** Seconds as people say them. */
export function span(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 10) return t("span.seconds", { n: Math.round(seconds * 10) / 10, text: number(seconds, 1) });
  if (seconds < 120) return t("span.seconds", { n: Math.round(seconds), text: number(seconds) });
  if (seconds < 7200) return t("span.minutes", { n: Math.round(seconds / 60), text: number(seconds / 60) });
  if (seconds < 172800) return t("span.hours", { n: Math.round(seconds / 3600), text: number(seconds / 3600) });
  return t("span.days", { n: Math.round(seconds / 86400), text: number(seconds / 86400) });
}

/** The words for what happened: "entered Door". */
export function happened(event) {
  return t("event." + event.event, { or: event.event, region: event.region || "" }).trim();
}
/** A count in a shopkeeper's words. */
export function counted(region) {
  return region.kind === "line" ? t("count.line", { in: region.in || 0, out: region.out || 0 })
    : t("count.zone", { entered: region.entered || 0, left: region.left || 0 });
}
export const localDay = date => new Date(date.getFullYear(), date.getMonth(), date.getDate());
