// Forms that ask the browser for a passkey. They stay hidden without script or passkey support.
for (const form of document.querySelectorAll('form[data-passkey]')) {
  const isSupported = globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined;
  if (!(form instanceof HTMLFormElement) || !isSupported) continue;
  const field = form.elements.namedItem('response');
  if (!(field instanceof HTMLInputElement)) continue;
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    // A code replaces the use of a passkey; for a new passkey it proves an existing factor.
    const code = form.dataset.passkey === 'use' ? form.elements.namedItem('code') : null;
    if (field.value !== '' || (code instanceof HTMLInputElement && code.value !== '')) return;
    // A preview needs no passkey.
    if (event.submitter instanceof HTMLButtonElement && event.submitter.formNoValidate) return;
    event.preventDefault();
    askBrowser(form.dataset.passkey, JSON.parse(form.dataset.options ?? '{}')).then(
      (credential) => {
        field.value = JSON.stringify(credential);
        form.requestSubmit();
      },
      () => {
        const output = form.querySelector('[data-status]');
        if (output !== null) output.textContent = 'The passkey was not used. Please try again.';
      },
    );
  });
}

/**
 * @param {string | undefined} action
 * @param {any} options as the server writes them
 */
async function askBrowser(action, options) {
  const { credentials } = navigator;
  return action === 'make'
    ? credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}
