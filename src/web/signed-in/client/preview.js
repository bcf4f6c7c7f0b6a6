// Keeps a preview up to date with its form, and hides the button that updates it without script.
const preview = document.querySelector('.preview button');
if (preview instanceof HTMLButtonElement) {
  preview.hidden = true;
  let shown = 0;
  const show = () => {
    // A new frame adds no history entry, and the previous one stays until the new page has loaded.
    const frame = document.querySelector('.preview iframe:last-child');
    const next = frame?.cloneNode();
    if (!(next instanceof HTMLIFrameElement)) return;
    next.name = preview.formTarget = `preview${++shown}`;
    frame?.after(next);
    next.addEventListener('load', () => {
      while (next.previousSibling !== null) next.previousSibling.remove();
    });
    preview.form?.requestSubmit(preview);
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  preview.form?.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(show, 300);
  });
  preview.form?.addEventListener('submit', () => clearTimeout(timer));
  show();
}
