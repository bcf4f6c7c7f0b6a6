// Copies a field or list on a click. The buttons stay hidden if scripts are disabled.
for (const button of document.querySelectorAll('button[data-copies]')) {
  if (!(button instanceof HTMLButtonElement)) continue;
  const source = document.getElementById(button.dataset.copies ?? '');
  if (source === null || navigator.clipboard === undefined) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const isField = source instanceof HTMLInputElement;
    if (isField) source.select();
    await navigator.clipboard.writeText(isField ? source.value : linesOf(source));
    const output = document.getElementById('copied');
    if (output === null) button.textContent = 'Copied';
    else output.textContent = 'Copied.';
  });
}

/** @param {Element} list */
function linesOf(list) {
  if (list.children.length === 0) return list.textContent ?? '';
  return [...list.children].map((item) => item.textContent).join('\n');
}
