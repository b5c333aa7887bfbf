
// What can be scrolled can be reached by keys, too; a table that sorts has buttons for that.
for (const box of document.querySelectorAll(".scroll")) {
  if (!box.querySelector("a, button")) box.tabIndex = 0;
}
