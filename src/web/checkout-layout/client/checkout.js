/**
 * Script for shop pages: opens a `checkout_url` in a dialog if the account's settings allow the page's host.
 * Otherwise, and on phones, the link opens as it would without this script.
 */
(() => {
  const script = /** @type {HTMLScriptElement} */ (document.currentScript);
  const { origin } = new URL(script.src);
  const states = ['open', 'pending', 'paid', 'canceled', 'expired'];
  /** Time in ms after loading in which a framed checkout must send its state. Otherwise, the link opens normally. */
  const silentMs = 2_000;
  /** @type {HTMLDialogElement | undefined} */
  let dialog;

  /** @param {string} href */
  function open(href) {
    const url = new URL(href);
    if (url.origin !== origin) throw new TypeError(`not a checkout of ${origin}`);
    const made = document.createElement('dialog');
    if (made.showModal === undefined || Math.min(innerWidth, screen.width, screen.height) < 640) {
      location.assign(href);
      return;
    }
    dialog?.close();
    dialog = made;
    // With `auto`, the checkout would redirect to the provider, which refuses to be framed.
    url.searchParams.delete('auto');
    const frame = document.createElement('iframe');
    Object.assign(frame, { title: 'Checkout', allow: 'clipboard-write', src: url.href });
    frame.style.cssText = 'display:block;width:100%;height:calc(100% - 44px);border:0';
    const button = document.createElement('button');
    button.textContent = '✕';
    button.setAttribute('aria-label', script.dataset['close'] ?? 'Close');
    button.style.cssText =
      'display:block;width:44px;height:44px;margin-inline-start:auto;border:0;background:none;color:inherit;font:20px sans-serif;cursor:pointer';
    button.onclick = () => made.close();
    let last = '';
    /** @param {string} state */
    const tell = (state) => {
      if (state !== last) document.dispatchEvent(new CustomEvent('card-checkout', { detail: state }));
      last = state;
    };
    /** @param {MessageEvent} event */
    const hear = (event) => {
      if (event.source !== frame.contentWindow || event.origin !== origin) return;
      if (event.data === 'closed') made.close();
      else if (states.includes(event.data)) tell(event.data);
    };
    frame.onload = () => setTimeout(() => last === '' && made.open && location.assign(href), silentMs);
    made.onclose = () => {
      removeEventListener('message', hear);
      made.remove();
      tell('closed');
    };
    made.setAttribute('aria-label', frame.title);
    made.style.cssText =
      'width:min(480px,96vw);height:min(820px,94vh);max-width:none;max-height:none;margin:auto;padding:0;border:0;border-radius:12px;overflow:hidden';
    made.append(button, frame);
    document.body.append(made);
    addEventListener('message', hear);
    made.showModal();
  }

  document.addEventListener('click', (event) => {
    const link = /** @type {Element} */ (event.target).closest('a');
    if (link?.dataset['cardCheckout'] === undefined || link.origin !== origin) return;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open(link.href);
  });

  Object.assign(window, { cardCheckout: { open, close: () => dialog?.close() } });
})();
