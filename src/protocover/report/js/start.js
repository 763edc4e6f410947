// Set everything going.

function startTheme() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  byId("theme").addEventListener("click", () => {
    const now = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  });
}

startTheme();
startGrid();
startMap();
startDetail();
startPath();
startLists();

// Paper has no "show more".
window.addEventListener("beforeprint", () => {
  showEverything();
  for (const list of lists) list.all();
});
