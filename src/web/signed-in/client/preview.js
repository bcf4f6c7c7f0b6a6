// Updates a preview when its form changes. Without scripts, a button updates it.
const preview = document.querySelector('.preview button');
if (preview instanceof HTMLButtonElement) {
  preview.hidden = true;
  let shown = 0;
  const show = () => {
    // Adds a new frame, which creates no history entry. The old frame stays until the new page has loaded.
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
