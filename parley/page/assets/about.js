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
    if (link.hash === `#${open.id}`) {
      link.setAttribute("aria-current", "true");
      link.parentElement.scrollLeft = link.offsetLeft - 60; // also on a narrow screen in sight
    } else link.removeAttribute("aria-current");
  }
  if (!target || target === open) return;
  const folded = target.closest("details");
  if (folded) folded.open = true;
  target.scrollIntoView();
}

addEventListener("hashchange", showSection);
showSection();
