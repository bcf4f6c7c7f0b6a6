import { roleIncludes } from '../../accounts/person.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import type { Visit } from '../../web/signed-in/context.ts';
import { copyButton, fact, webhookBadge } from '../../web/signed-in/payment-words.ts';
import { reasonSentence } from '../../webhooks/delivery-reasons.ts';
import { verifyWebhookSignature } from '../../webhooks/payment-history.ts';
import type { Webhook, WebhookResult } from '../../webhooks/send-webhook.ts';
import { webhookHeaders } from '../../webhooks/webhook-signatures.ts';
import { ENDPOINT_CHECK_PATH } from './endpoint-check-page.ts';

/** Renders a sent event. `baseUrl` is the public root of the API. */
export function webhookCard({ baseUrl }: { readonly baseUrl: string }, webhook: Webhook, visit: Visit): Html {
  const { result } = webhook;
  const open = visit.query.has('webhook') ? html` open` : nothing;
  return html`<details class="card" id="webhook"${open}><summary><strong>Webhook</strong> <code>${webhook.event}</code>
${webhookBadge(webhook.status)} <span class="small soft">${result === null ? '' : webhookOutcome(result)}</span></summary><div class="fields">
<dl class="facts"><div><dt>Sent to</dt><dd><code>${webhook.url}</code></dd></div>${result === null ? nothing : resultRows(result)}</dl>
${result === null || result.outcome === 'delivered' ? nothing : html`${testLink(visit, webhook)}${reconcileAdvice(baseUrl, webhook.paymentId)}`}
${result === null ? html`<p>It has not been sent yet.</p>` : sentParts(webhook, result, visit)}
</div></details>`;
}

export function webhookOutcome({ httpStatus, durationMs, reason }: WebhookResult): string {
  const answer = httpStatus === null ? 'No answer' : `Answer ${httpStatus}`;
  return `${answer} after ${Math.round(durationMs)} ms. ${reasonSentence(reason)}`;
}

function testLink({ role }: Visit, { paymentId }: Webhook): Html {
  if (!roleIncludes(role, 'developer')) return nothing;
  return html`<p class="actions"><a class="button" href="${ENDPOINT_CHECK_PATH}?payment=${paymentId}">Test this endpoint</a></p>`;
}

function resultRows(result: WebhookResult): Html {
  const { reason, responseExcerpt } = result;
  return html`${reason !== null && fact('Why it failed', html`${reasonSentence(reason)} <code>${reason}</code>`)}
${responseExcerpt !== '' && fact('The answer began with', html`<code>${responseExcerpt}</code>`)}`;
}

function sentParts(webhook: Webhook, { body, signature }: WebhookResult, { context }: Visit): Html {
  if (body === null || signature === null) return html`<p>Nothing was sent, or what was sent was erased.</p>`;
  const headers = headersOf(webhook.url, body, signature);
  return html`<h3 id="webhook-body">Body</h3>
<p class="small soft">Formatted for reading. The signature covers the body as it was sent, which the curl command contains.</p>
${block('webhook-body', JSON.stringify(JSON.parse(body), null, 2))}
<h3 id="webhook-headers">Headers</h3>${block('webhook-headers', headers.map(([name, value]) => `${name}: ${value}`).join('\n'))}
<h3 id="webhook-curl">As curl</h3>
<p class="small soft">For debugging. The command sends the recorded event again, with its <code>timestamp</code>.
Endpoints that check the age of events, as the SDK does, refuse it after 300 seconds.</p>
${block('webhook-curl', curlOf(webhook.url, headers, body))}
${checkBanners[verifyWebhookSignature(context.tokens, webhook)]}
<p class="small soft">Signed with the payment’s <code>ipn_token</code> from the response to the create request. It is not shown here.</p>`;
}

/** Renders advice to read the status instead of resending, because receivers refuse old events. */
function reconcileAdvice(baseUrl: string, paymentId: string): Html {
  const command = [
    `curl --header 'Authorization: Bearer YOUR_API_KEY' \\`,
    `  ${quoted(`${baseUrl}/api/v1/payment-status?payment_id=${paymentId}`)}`,
  ].join('\n');
  return html`<p class="banner">An event is sent once. Read the payment’s status instead:
if <code>status</code> is <code>paid</code>, fulfill the order as your webhook endpoint does.
The SDK’s <code>reconcile</code> does this for all open orders.</p>
<h3 id="webhook-status">Request the status</h3>${block('webhook-status', command)}`;
}

function block(labelId: string, text: string): Html {
  const id = `${labelId}-text`;
  return html`<pre class="block" role="region" aria-labelledby="${labelId}" tabindex="0"><code id="${id}">${text}</code></pre>${copyButton(id, 'this text')}`;
}

const checkBanners = {
  good: html`<p class="banner good">The signature is valid: it is the HMAC-SHA256 of this body with the payment’s ipn_token.</p>`,
  bad: html`<p class="banner bad">The signature does not match this body: the record was changed after it was sent.</p>`,
  erased: html`<p class="banner">The customer’s email address was erased from this body.
The signature covers the original body, so it can be verified only with your own copy.</p>`,
  unknown: html`<p class="banner">The signature cannot be verified: the secret of the payment’s ipn_token is no longer configured.</p>`,
};

function headersOf(url: string, body: string, signature: string): [string, string][] {
  const { hostname, port } = new URL(url);
  const target = { hostname: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) };
  return Object.entries(webhookHeaders(target, Buffer.byteLength(body), signature));
}

/** Returns a curl command for the request. curl sets host, length and connection itself. */
function curlOf(url: string, headers: readonly [string, string][], body: string): string {
  const sent = headers.filter(([name]) => !['Host', 'Content-Length', 'Connection'].includes(name));
  const parts = [
    `curl --request POST ${quoted(url)}`,
    ...sent.map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ];
  return parts.join(' \\\n  ');
}

/** Quotes text as a single word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
