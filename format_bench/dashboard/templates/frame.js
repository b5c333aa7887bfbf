
// Scrolled areas have to be reachable by keyboard; sortable tables are, by their buttons.
for (const box of document.querySelectorAll(".scroll")) {
  if (!box.querySelector("a, button")) box.tabIndex = 0;
}
