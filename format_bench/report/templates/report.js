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

// A chart can be saved as a file, always in the colours for light screens, and as PNG in twice its size.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const margin = 12;
  const box = { x: -margin, y: -margin, width: width + 2 * margin, height: height + 2 * margin };
  // The page's colours follow the scheme of the element.
  svg.style.colorScheme = "light";
  const [drawn, copies] = [svg, copy].map((each) => [each, ...each.querySelectorAll("*")]);
  drawn.forEach((each, number) => {
    for (const name of ["fill", "stroke"]) {
      if (each.getAttribute(name)?.startsWith("var(")) {
        copies[number].setAttribute(name, getComputedStyle(each)[name]);
      }
    }
    copies[number].removeAttribute("class");
  });
  svg.style.colorScheme = "";
  const paper = document.createElementNS(svg.namespaceURI, "rect");
  for (const [name, length] of Object.entries(box)) {
    copy.setAttribute(name, length);
    paper.setAttribute(name, length);
  }
  paper.setAttribute("fill", "#fff");
  copy.setAttribute("viewBox", Object.values(box).join(" "));
  copy.querySelector("desc").after(paper);
  return { text: new XMLSerializer().serializeToString(copy), ...box };
}

async function picture({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done));
}

const FILES = {
  SVG: async (svg) => new Blob([standalone(svg).text], { type: "image/svg+xml" }),
  PNG: (svg) => picture(standalone(svg)),
};

async function save(svg, kind) {
  const link = document.createElement("a");
  const name = svg.querySelector("title").textContent.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  link.download = `${name}.${kind.toLowerCase()}`;
  link.href = URL.createObjectURL(await FILES[kind](svg));
  link.click();
  URL.revokeObjectURL(link.href);
}

for (const svg of document.querySelectorAll("figure .chart")) {
  const buttons = document.createElement("div");
  buttons.className = "below";
  for (const kind of Object.keys(FILES)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = kind;
    button.setAttribute("aria-label", `Save as ${kind}: ${svg.querySelector("title").textContent}`);
    button.addEventListener("click", () => save(svg, kind));
    buttons.append(button);
  }
  (svg.closest(".scroll") ?? svg).after(buttons);
}

// Points without a name beside them tell it under a pointer, and by the arrow keys.
for (const svg of document.querySelectorAll("figure .explored")) {
  const points = Array.from(svg.querySelectorAll("use:has(> title)"));
  const tip = document.createElement("p");
  tip.className = "tip";
  tip.setAttribute("aria-live", "polite");
  tip.textContent = "Point at a dot to see its name, or use the arrow keys.";
  svg.nextElementSibling.prepend(tip);
  svg.setAttribute("tabindex", "0");
  points.sort((a, b) => a.getAttribute("x") - b.getAttribute("x"));
  let at = -1;
  function show(number) {
    points[at]?.classList.remove("shown");
    at = number;
    points[at].classList.add("shown");
    tip.textContent = points[at].querySelector("title").textContent;
  }
  points.forEach((each, number) => each.addEventListener("pointerenter", () => show(number)));
  svg.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
    if (step) show((at + step + points.length) % points.length);
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
