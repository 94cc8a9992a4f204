// Data on demand. A page opened from disk may not fetch files but may load scripts, so a chunk of data is a
// script with one call: parsemark.chunk("name", "base64 of gzip of JSON").
"use strict";
(() => {
  const waiting = new Map();
  const loaded = new Map();

  const unpack = async (payload) => {
    const bytes = Uint8Array.from(atob(payload), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };

  parsemark.chunk = (name, payload) => {
    const request = waiting.get(name);
    if (request) unpack(payload).then(request.resolve, request.reject);
  };

  // Resolves to the chunk's data; each chunk is loaded once.
  parsemark.load = (name) => {
    if (!loaded.has(name)) {
      loaded.set(
        name,
        new Promise((resolve, reject) => {
          if (parsemark.files) {
            const inside = parsemark.files.get(`data/${name}`);
            if (inside) unpack(inside.textContent).then(resolve, reject);
            else reject(new Error("This page is not in this file. The whole report has it: parsemark report RUN."));
            return;
          }
          waiting.set(name, { resolve, reject });
          const script = document.createElement("script");
          script.src = `data/${name}.js`;
          script.onerror = () => {
            loaded.delete(name);
            reject(new Error(`The data file data/${name}.js is missing. Copy the whole report folder.`));
          };
          document.head.append(script);
        }),
      );
    }
    return loaded.get(name);
  };

  // Where the data and pictures of a page lie.
  parsemark.pageFile = (index) => `${String(Math.floor(index / 1000)).padStart(3, "0")}/${String(index).padStart(5, "0")}`;

  parsemark.picture = (path) => (parsemark.files ? `data:image/jpeg;base64,${parsemark.files.get(path)?.textContent ?? ""}` : path);

  parsemark.showError = (place, error) => {
    place.replaceChildren(parsemark.el("p", { class: "notice error", role: "alert" }, error.message));
  };
})();
