import { createHmac, randomBytes } from 'node:crypto';
import type { PaymentId } from '../payment/payment.ts';
import type { SecretBox } from '../platform/secret-box.ts';

/** Purpose for which the key of accounts' signing secrets is derived. */
export const SIGNING_SECRETS = 'signing secrets of webhooks';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Creates a secret in the form that libraries of Standard Webhooks expect. */
export function createSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The `webhook-id` of an event, without a dot, because dots separate the signed parts. */
export function eventIdOf(paymentId: PaymentId, event: string): string {
  return `evt_${paymentId.replaceAll('-', '')}_${event.replace('.', '_')}`;
}

/** Headers of Standard Webhooks with a signature for each secret that can be opened; none without such a secret. */
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
