/** Closes the language menu on Escape, and on a click or focus outside it. Takes the focus out of a closed menu. */
const menu = /** @type {HTMLDetailsElement | null} */ (document.querySelector('.languages details'));

/** @param {Event} event */
function closeMenu(event) {
  const isEscape = event instanceof KeyboardEvent && event.key === 'Escape';
  const isOutside = event.type !== 'keydown' && !menu?.contains(/** @type {Node} */ (event.target));
  if (!menu?.open || !(isEscape || isOutside)) return;
  menu.open = false;
  const { activeElement } = document;
  if (activeElement === document.body || menu.contains(activeElement))
    menu.querySelector('summary')?.focus({ preventScroll: true });
}

for (const action of ['keydown', 'click', 'focusin']) addEventListener(action, closeMenu);
