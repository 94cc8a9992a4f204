// The question for a name, or for which of two.
"use strict";
(() => {
  const message = document.getElementById("message");
  document.getElementById("join")?.addEventListener("click", async (event) => {
    try {
      await parsemark.send(`/api/join/${event.currentTarget.dataset.code}`, {}, (why) => parsemark.say(message, why));
      location.assign("/");
    } catch (error) {
      parsemark.say(message, error.message);
    }
  });
  document.getElementById("enter")?.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await parsemark.send("/api/enter", { name: document.getElementById("name").value }, (why) => parsemark.say(message, why));
      location.reload();
    } catch (error) {
      parsemark.say(message, error.message);
    }
  });
})();
