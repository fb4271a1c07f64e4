// What every page has: buttons that copy, and links that skip.
"use strict";

/** Copy text for a button; without permission, call a function that returns what to do instead. */
async function copy(button, text, otherwise) {
  const label = (button.dataset.label ??= button.textContent);
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = otherwise();
  }
  setTimeout(() => (button.textContent = label), 2000);
}

/** Select an element for the user to copy. */
function select(node) {
  getSelection().selectAllChildren(node);
  return "Selected";
}

document.addEventListener("click", (event) => {
  const skip = event.target.closest("a.skip");
  if (skip) {
    event.preventDefault(); // the address holds the state of the page
    const target = document.querySelector(skip.hash);
    target.tabIndex = -1;
    target.focus();
  }
  const button = event.target.closest("button.copy");
  const code = button?.parentElement.querySelector("code");
  if (code) copy(button, code.textContent, () => select(code));
});
