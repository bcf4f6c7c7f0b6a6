/** Fills in a suggested amount without reloading the page. The server ignores the second submission of a form. */
addEventListener('click', (event) => {
  const amount = /** @type {Element} */ (event.target).closest('a')?.dataset['amount'];
  const field = /** @type {HTMLInputElement | null} */ (document.getElementById('amount'));
  if (amount === undefined || field === null) return;
  event.preventDefault();
  field.value = amount;
  field.removeAttribute('aria-invalid');
  document.getElementById('amount-error')?.remove();
});
