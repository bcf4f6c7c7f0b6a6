/**
 * Buttons that copy a text. Loaded before `follow-payment.js`, which announces the shown page. Without this script, the
 * texts can be copied by hand.
 */
document.addEventListener('checkout:shown', () => {
  for (const button of document.querySelectorAll('button')) {
    const { copy } = button.dataset;
    // The clipboard is absent in old browsers and without HTTPS.
    if (copy === undefined || navigator.clipboard === undefined) continue;
    button.hidden = false;
    button.onclick = () =>
      navigator.clipboard.writeText(copy).then(
        () => {
          button.textContent = '✓';
        },
        () => {
          button.hidden = true;
        },
      );
  }
});
