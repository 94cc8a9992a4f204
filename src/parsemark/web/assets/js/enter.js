// The question for a name.
"use strict";
(() => {
  const message = document.getElementById("message");
  document.getElementById("enter").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await parsemark.send("/api/enter", { name: document.getElementById("name").value }, (why) => parsemark.say(message, why));
      location.reload();
    } catch (error) {
      parsemark.say(message, error.message);
    }
  });
})();
