// What the theme leaves out for people who use a keyboard or a screen reader.
document.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll("p.caption[role=heading]")) caption.ariaLevel = "2";
  for (const block of document.querySelectorAll("pre, .table-wrapper, .cell_output")) block.tabIndex = 0;
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
});
