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

  // A number of a table, chosen by a click or Enter, names its cell in the command below the table.
  function choose(cell) {
    const table = cell.closest("table");
    const measure = table.tHead.rows[0].cells[cell.cellIndex].dataset.measure;
    if (!measure) return;
    const name = [table.dataset.cells, cell.parentElement.cells[0].dataset.cell, measure].join("/");
    const again = table.parentElement.nextElementSibling;
    const code = again.querySelector("code");
    code.textContent = `${code.dataset.before}'${name.replaceAll("'", `'"'"'`)}'${code.dataset.after}`;
    again.open = true;
    table.querySelector(".chosen")?.classList.remove("chosen");
    cell.classList.add("chosen");
    focusOn(cell);
  }

  // A table is one stop of the Tab key.
  function focusOn(cell) {
    for (const each of cell.closest("table").querySelectorAll("td[tabindex='0']")) each.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus({ preventScroll: true });
  }

  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

  function step(event, cell) {
    const [down, right] = STEPS[event.key];
    const row = cell.closest("tbody").rows[cell.parentElement.sectionRowIndex + down];
    const next = row?.cells[cell.cellIndex + right];
    event.preventDefault();
    if (!next?.matches("td")) return;
    focusOn(next);
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  for (const table of document.querySelectorAll("table[data-cells]")) {
    table.classList.add("chosen-from");
    const first = table.querySelector("td");
    if (first) first.tabIndex = 0;
    table.addEventListener("click", ({ target }) => {
      const cell = target.closest("td");
      if (cell && !target.closest("a")) choose(cell);
    });
    table.addEventListener("keydown", (event) => {
      if (!event.target.matches("td")) return;
      if (event.key === "Enter") choose(event.target);
      else if (event.key in STEPS) step(event, event.target);
    });
  }
})();
