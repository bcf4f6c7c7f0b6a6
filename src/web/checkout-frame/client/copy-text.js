/**
 * Buttons that copy a text; loaded before `follow-payment.js`, which announces the shown page. Without this script the
 * texts can be copied by hand.
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
