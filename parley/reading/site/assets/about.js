// The page about a dataset: one section at a time, and the figures of one verdict.
"use strict";

const sections = [...document.querySelectorAll(".about > section")];
const contents = [...document.querySelectorAll(".contents a")];

/** Show the section that the address names or that holds the named heading; else the first. */
function showSection() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const open = sections.find((section) => section.contains(named)) ?? sections[0];
  for (const section of sections) section.classList.toggle("closed", section !== open);
  for (const link of contents) {
    if (link.hash === `#${open.id}`) {
      link.setAttribute("aria-current", "true");
      link.parentElement.scrollLeft = link.offsetLeft - 60; // also on a narrow screen in sight
    } else link.removeAttribute("aria-current");
  }
  if (!named || named === open) return;
  const folded = named.closest("details");
  if (folded) folded.open = true;
  named.scrollIntoView();
}

/** Show the figures of the chosen verdict. */
function showFigures(choice) {
  const rows = [...document.querySelectorAll("tr[data-verdict]")];
  for (const row of rows) row.hidden = choice.value !== "" && row.dataset.verdict !== choice.value;
  const shown = rows.filter((row) => !row.hidden).length;
  document.getElementById("figures-shown").textContent = `${shown} of ${rows.length} figures`;
}

addEventListener("hashchange", showSection);
showSection();
const verdict = document.getElementById("verdict");
if (verdict) {
  verdict.addEventListener("change", () => showFigures(verdict));
  showFigures(verdict);
}
