// Calls to our server. What is written is sent until the server says that it is kept.
"use strict";
window.parsemark = window.parsemark || {};
(() => {
  const csrf = document.querySelector('meta[name="csrf"]').content;
  const LONGEST_WAIT_MS = 8000;
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  parsemark.get = async (path) => {
    const response = await fetch(path, { headers: { accept: "application/json" } }).catch(() => { throw new Error("No connection. Try again."); });
    if (!response.ok) throw new Error((await response.json().catch(() => ({}))).error || `The server answered ${response.status}.`);
    return response.json();
  };

  parsemark.keepAsking = async (path) => {
    for (;;) {
      try {
        return await parsemark.get(path);
      } catch {
        await pause(LONGEST_WAIT_MS / 8);
      }
    }
  };

  // Sends the same body, with the same nonce, until an answer comes; `onTrouble` hears of each failure. Only an
  // answer that says why it cannot be (4xx) ends the tries.
  parsemark.send = async (path, body, onTrouble = () => {}) => {
    for (let wait = 250; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
      let response = null;
      try {
        response = await fetch(path, {
          method: "POST",
          headers: { "content-type": "application/json", "x-parsemark": csrf },
          body: JSON.stringify(body),
        });
      } catch {
        onTrouble("No connection. Not saved yet; trying again …");
      }
      if (response && response.ok) return response.json();
      if (response && response.status < 500) {
        const said = await response.text();
        let message = said;
        try {
          message = JSON.parse(said).error;
        } catch {
          // plain text
        }
        throw Object.assign(new Error(message || `The server answered ${response.status}.`), { status: response.status });
      }
      if (response) onTrouble("The server has a problem. Not saved yet; trying again …");
      await pause(wait);
    }
  };

  parsemark.nonce = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

  parsemark.say = (node, text) => {
    node.textContent = text || "";
    node.hidden = !text;
  };
})();
