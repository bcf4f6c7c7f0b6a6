import { createHmac, randomBytes } from 'node:crypto';
import type { PaymentId } from '../payment/payment.ts';
import type { SecretBox } from '../platform/secret-box.ts';

const USER_AGENT = 'card-checkout-webhook/1';

/** Returns the hex HMAC-SHA256 of the raw body, keyed with the payment's ipn_token. */
export function signWebhook(body: string, ipnToken: string): string {
  return createHmac('sha256', ipnToken).update(body).digest('hex');
}

/** Returns a webhook's headers exactly as sent. `hostname` has no brackets, even for IPv6. */
export function webhookHeaders(
  { hostname, port }: { readonly hostname: string; readonly port: number },
  bodyBytes: number,
  signature: string | null,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  return {
    Host: port === 443 ? host : `${host}:${port}`,
    'User-Agent': USER_AGENT,
    'Content-Type': 'application/json',
    'Content-Length': String(bodyBytes),
    ...(signature === null ? {} : { 'X-Service-Signature': signature }),
    ...more,
    Connection: 'close',
  };
}

/** Key derivation purpose for sealing the accounts' signing secrets. */
export const SIGNING_SECRETS = 'signing secrets of webhooks';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Creates a secret in the format that Standard Webhooks libraries expect. */
export function createSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** Returns an event's `webhook-id`. It contains no dot, because dots separate the signed parts. */
export function eventIdOf(paymentId: PaymentId, event: string): string {
  return `evt_${paymentId.replaceAll('-', '')}_${event.replace('.', '_')}`;
}

/** Returns Standard Webhooks headers, with one signature per secret that can be opened. Empty if none can. */
export function standardHeaders(
  box: Pick<SecretBox, 'open'>,
  { accountId, sealedSecrets }: { readonly accountId: string; readonly sealedSecrets: readonly string[] },
  sent: { readonly id: string; readonly timestamp: number; readonly body: string },
): Readonly<Record<string, string>> {
  const secrets = sealedSecrets.flatMap((sealed) => box.open(sealed, accountId) ?? []);
  if (secrets.length === 0) return {};
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'));
    return `v1,${hmac.update(`${sent.id}.${sent.timestamp}.${sent.body}`).digest('base64')}`;
  });
  return {
    'webhook-id': sent.id,
    'webhook-timestamp': String(sent.timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
