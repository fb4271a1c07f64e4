// The page about a dataset: one section at a time.
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

addEventListener("hashchange", showSection);
showSection();
