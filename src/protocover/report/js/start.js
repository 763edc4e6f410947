// Starts everything.

function startTheme() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  byId("theme").addEventListener("click", () => {
    const now = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  });
}

// Marks the ends of the bar if it can be scrolled.
function startBar() {
  const nav = document.querySelector(".bar nav");
  const mark = () => {
    nav.classList.toggle("more-left", nav.scrollLeft > 4);
    nav.classList.toggle("more-right", nav.scrollLeft + nav.clientWidth < nav.scrollWidth - 4);
  };
  nav.addEventListener("scroll", mark, { passive: true });
  window.addEventListener("resize", mark);
  mark();
}

startTheme();
startGrid();
startMap();
startDetail();
startPath();
startLists();
startAnswers();
startBar();

// Show everything in print.
window.addEventListener("beforeprint", () => {
  showEverything();
  for (const list of lists) list.all();
});
