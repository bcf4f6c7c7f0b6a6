// Copies a field at the click of a button. Without script the button stays hidden, and the field can be copied by hand.
for (const button of document.querySelectorAll('button[data-copies]')) {
  if (!(button instanceof HTMLButtonElement)) continue;
  const field = document.getElementById(button.dataset.copies ?? '');
  if (!(field instanceof HTMLInputElement) || navigator.clipboard === undefined) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    field.select();
    await navigator.clipboard.writeText(field.value);
    const output = document.getElementById('copied');
    if (output !== null) output.textContent = 'Copied.';
  });
}
