// Shows the forms that use a passkey. The forms stay hidden if scripts or passkeys are unavailable.
for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!(form instanceof HTMLFormElement) || globalThis.PublicKeyCredential === undefined) continue;
  const field = form.elements.namedItem('response');
  if (!(field instanceof HTMLInputElement)) continue;
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    // Submits the form without a passkey if the user has entered a code.
    const code = form.querySelector('[id^="code-to-confirm"]');
    if (field.value !== '' || (code instanceof HTMLInputElement && code.value !== '')) return;
    // A preview needs no passkey.
    if (event.submitter instanceof HTMLButtonElement && event.submitter.formNoValidate) return;
    event.preventDefault();
    const options = JSON.parse(form.dataset.options ?? '{}');
    askForPasskey(form.dataset.passkey === 'make' ? 'create' : 'get', options).then(
      (response) => {
        field.value = JSON.stringify(response);
        form.requestSubmit();
      },
      () => {
        const output = form.querySelector('[data-status]');
        if (output !== null) output.textContent = 'The passkey was not used. Please try again.';
      },
    );
  });
}

/** @param {'create' | 'get'} how @param {any} options as serialized by the server */
async function askForPasskey(how, options) {
  const { challenge, user, excludeCredentials, allowCredentials } = options;
  const publicKey = {
    ...options,
    challenge: bytesOf(challenge),
    user: user && withBytes(user),
    excludeCredentials: excludeCredentials?.map(withBytes),
    allowCredentials: allowCredentials?.map(withBytes),
  };
  const passkey = await navigator.credentials[how]({ publicKey });
  if (!(passkey instanceof PublicKeyCredential)) throw new TypeError('no passkey');
  const { id, type } = passkey;
  /** @type {any} An attestation or an assertion. */
  const response = passkey.response;
  const buffers = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  const texts = buffers.filter((name) => response[name]).map((name) => [name, textOf(response[name])]);
  const answer = { ...Object.fromEntries(texts), transports: response.getTransports?.() };
  const clientExtensionResults = passkey.getClientExtensionResults();
  return { id, rawId: id, type, clientExtensionResults, response: answer };
}

/** @param {{ id: string }} credential */
function withBytes(credential) {
  return { ...credential, id: bytesOf(credential.id) };
}

/** @param {string} text base64url */
function bytesOf(text) {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** @param {ArrayBuffer} buffer */
function textOf(buffer) {
  const binary = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
