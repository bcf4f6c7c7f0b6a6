import type { TotpOffer } from '../../accounts/second-factor.ts';
import { type Html, html } from '../design/html.ts';
import { qrCode } from '../design/qr-code.ts';
import { passwordField, textField } from './fields.ts';
import type { PageContent } from './layout.ts';

/** What a form that switches an authenticator app on shows and asks for: the app's key, the password and a first code. */
export function totpFields(
  { secret, uri, sealed }: TotpOffer,
  { introduction, passwordId }: { readonly introduction: string; readonly passwordId: string },
): Html {
  return html`<input type="hidden" name="sealed" value="${sealed}">
<p>${introduction}</p>
${qrCode(uri, 'QR code for your authenticator app; the key below says the same')}
<dl class="facts"><div><dt>Key</dt><dd><code>${secret.match(/.{1,4}/g)?.join(' ') ?? secret}</code></dd></div></dl>
${passwordField({ id: passwordId })}
${textField({ name: 'code', label: 'Code', autocomplete: 'one-time-code' })}`;
}

/** The only time that recovery codes are shown; `nextPath` is where to go once they are saved. */
export function recoveryCodesPage(codes: readonly string[], nextPath: string): PageContent {
  return {
    title: 'Your recovery codes',
    main: html`<section class="card">
<p class="notice">Keep these where you find them without your phone. Each works once in place of a code. They are not kept here in a way that could be read, and will not be shown again.</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<div class="actions"><a class="button primary" href="${nextPath}">I have saved them</a></div></section>`,
  };
}
