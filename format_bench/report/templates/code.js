// Copies code to paste. Where the browser has no clipboard for the page, as from some files, the code is
// selected, and copied by the command of the Edit menu.
(() => {
  "use strict";

  const SHOWN_MS = 2000;

  async function copied(code) {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(code);
      return document.execCommand("copy");
    }
  }

  for (const button of document.querySelectorAll("button.copy")) button.hidden = false;
  document.addEventListener("click", async ({ target }) => {
    if (!target.matches("button.copy")) return;
    const done = await copied(target.parentElement.querySelector("code"));
    target.textContent = done ? "copied" : "selected: press Ctrl+C";
    setTimeout(() => (target.textContent = "copy"), SHOWN_MS);
  });
})();
