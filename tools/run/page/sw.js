/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the page's own files, so that it opens without a connection and says so. Pictures and the API are never kept. */

const NAME = "sightline-page";
const FILES = [
  "api.js", "app.js", "bars.js", "camera.js", "charts.js", "dom.js", "drawing.js", "editor.js", "events.js", "icon.svg", "labels.js",
  "manifest.webmanifest", "overlay.js", "pages.js", "pictures.js", "player.js", "push.js", "settings.js", "shapes.js", "strings/en.json", "style.css",
  "text.js", "wall.js",
];
const AROUND_MS = 5000;
const kept = url => url.origin === location.origin && (url.pathname === new URL("./", location).pathname || url.pathname.startsWith(new URL("page/", location).pathname));

async function keep() {
  const store = await caches.open(NAME);
  await store.addAll(["./", ...FILES.map(file => "page/" + file)]);
  await self.skipWaiting();
}
self.addEventListener("install", event => event.waitUntil(keep()));
self.addEventListener("activate", event => event.waitUntil(self.clients.claim()));

async function fresh(request) {
  const store = await caches.open(NAME);
  try {
    const answer = await fetch(request);
    if (answer.ok) await store.put(request, answer.clone());
    return answer;
  } catch (error) {
    const before = await store.match(request);
    if (before) return before;
    throw error;
  }
}
self.addEventListener("fetch", event => {
  if (event.request.method === "GET" && kept(new URL(event.request.url))) event.respondWith(fresh(event.request));
});

/* A message about an event: it is shown in any case, since browsers end subscriptions of pages that show nothing. */
async function tell(data) {
  let told = {};
  try { told = data.json(); } catch { /* shown without its words */ }
  const text = key => typeof told[key] === "string" ? told[key] : "";
  const filters = new URLSearchParams(), at = Date.parse(text("utc"));
  if (at) {
    filters.set("from", new Date(at - AROUND_MS).toISOString());
    filters.set("to", new Date(at + AROUND_MS).toISOString());
  }
  if (text("zone")) filters.set("region", text("zone"));
  const options = { body: text("text"), icon: "page/icon-192.png", tag: text("notice") || undefined, data: "#/events?" + filters, timestamp: at || Date.now() };
  await self.registration.showNotification(text("camera") || "Sightline", options);
}
self.addEventListener("push", event => event.waitUntil(tell(event.data)));

async function openPage(hash) {
  const address = new URL("./" + hash, location), pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find(one => new URL(one.url).pathname === address.pathname);
  if (!page) return self.clients.openWindow(address.href);
  page.postMessage({ show: hash });
  return page.focus();
}
self.addEventListener("notificationclick", event => {
  event.notification.close();
  event.waitUntil(openPage(typeof event.notification.data === "string" ? event.notification.data : ""));
});
