// The list of pages: who is at this browser.
"use strict";
(() => {
  const message = document.getElementById("message");
  document.getElementById("who").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await parsemark.send("/api/person", { name: document.getElementById("name").value }, (why) => parsemark.say(message, why));
      const begin = document.getElementById("begin");
      if (begin) location.assign(begin.href);
    } catch (error) {
      parsemark.say(message, error.message);
    }
  });
})();
