"use strict";

// A table is sorted by the numbers of a column, or by its text; what has no value stays last.
function keyOf(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  return row.closest("table").matches(".words") || cell.matches("th") ? cell.textContent : null;
}

function compare(a, b) {
  if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
  return a - b;
}

function sort(table, column, descending) {
  const rows = Array.from(table.tBodies[0].rows, (row) => ({ row, key: keyOf(row, column) }));
  const valued = rows.filter(({ key }) => key !== null);
  const empty = rows.filter(({ key }) => key === null);
  valued.sort((a, b) => (descending ? compare(b.key, a.key) : compare(a.key, b.key)));
  table.tBodies[0].append(...[...valued, ...empty].map(({ row }) => row));
}

// Without scripts the headers are plain text, and nothing promises to sort.
for (const table of document.querySelectorAll("table.sortable")) {
  // Rows above the last one have headings of several columns.
  const headers = Array.from(Array.from(table.tHead.rows).at(-1).cells);
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    header.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const descending = header.getAttribute("aria-sort") === "ascending";
      for (const other of headers) other.setAttribute("aria-sort", "none");
      header.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sort(table, column, descending);
    });
  });
}

// What is folded is printed, too.
let folded = [];
window.addEventListener("beforeprint", () => {
  folded = Array.from(document.querySelectorAll("details:not([open])"));
  for (const details of folded) details.open = true;
});
window.addEventListener("afterprint", () => {
  for (const details of folded) details.open = false;
});
