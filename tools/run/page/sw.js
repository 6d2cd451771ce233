/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the page's own files, so that it opens without a connection and says so. Pictures and the API are never kept. */

const NAME = "sightline-page";
const FILES = [
  "api.js", "app.js", "bars.js", "camera.js", "charts.js", "dom.js", "drawing.js", "editor.js", "events.js", "icon.svg", "labels.js",
  "manifest.webmanifest", "overlay.js", "pages.js", "pictures.js", "player.js", "settings.js", "shapes.js", "strings/en.json", "style.css",
  "text.js", "wall.js",
];
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
