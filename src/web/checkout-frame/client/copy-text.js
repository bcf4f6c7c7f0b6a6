/**
 * The buttons that copy a text, before `follow-payment.js`, which says when the page is shown. Without this script the
 * texts remain, to copy by hand.
 */
document.addEventListener('checkout:shown', () => {
  for (const button of document.querySelectorAll('button')) {
    const { copy } = button.dataset;
    if (copy === undefined) continue;
    button.hidden = false;
    button.onclick = async () => {
      await navigator.clipboard.writeText(copy);
      button.textContent = '✓';
    };
  }
});
