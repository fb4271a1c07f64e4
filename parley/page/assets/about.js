// The page about a dataset: one section at a time.
"use strict";

const sections = [...document.querySelectorAll(".about > section")];
const contents = [...document.querySelectorAll(".contents a")];

/** Show the section that the address names or that holds its heading; else the first. */
function showSection() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const open = sections.find((section) => section.contains(target)) ?? sections[0];
  for (const section of sections) section.classList.toggle("closed", section !== open);
  for (const link of contents) {
    link.ariaCurrent = link.hash === `#${open.id}` ? "true" : null;
    // also on a narrow screen in sight
    if (link.ariaCurrent) link.parentElement.scrollLeft = link.offsetLeft - 60;
  }
  if (!target || target === open) return;
  target.closest("details")?.setAttribute("open", "");
  target.scrollIntoView();
}

addEventListener("hashchange", showSection);
showSection();
