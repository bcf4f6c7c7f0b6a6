// Forms that ask the browser for a passkey. They stay hidden without script or passkey support.
for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!(form instanceof HTMLFormElement) || globalThis.PublicKeyCredential === undefined) continue;
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
    const options = JSON.parse(form.dataset.options ?? '{}');
    const asked = form.dataset.passkey === 'make' ? makePasskey(options) : usePasskey(options);
    asked.then(
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

/** @param {any} options as the server writes them */
async function makePasskey(options) {
  const publicKey = {
    ...options,
    challenge: bytesOf(options.challenge),
    user: { ...options.user, id: bytesOf(options.user.id) },
    excludeCredentials: options.excludeCredentials.map(withBytes),
  };
  const made = await navigator.credentials.create({ publicKey });
  if (!(made instanceof PublicKeyCredential)) throw new TypeError('no passkey');
  const response = /** @type {AuthenticatorAttestationResponse} */ (made.response);
  return answerOf(made, {
    clientDataJSON: textOf(response.clientDataJSON),
    attestationObject: textOf(response.attestationObject),
    transports: response.getTransports(),
  });
}

/** @param {any} options as the server writes them */
async function usePasskey(options) {
  const publicKey = {
    ...options,
    challenge: bytesOf(options.challenge),
    allowCredentials: options.allowCredentials.map(withBytes),
  };
  const used = await navigator.credentials.get({ publicKey });
  if (!(used instanceof PublicKeyCredential)) throw new TypeError('no passkey');
  const response = /** @type {AuthenticatorAssertionResponse} */ (used.response);
  return answerOf(used, {
    clientDataJSON: textOf(response.clientDataJSON),
    authenticatorData: textOf(response.authenticatorData),
    signature: textOf(response.signature),
  });
}

/**
 * @param {PublicKeyCredential} credential
 * @param {object} response
 */
function answerOf({ id, type }, response) {
  return { id, rawId: id, type, clientExtensionResults: {}, response };
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
