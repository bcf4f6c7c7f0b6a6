import { timingSafeEqual } from 'node:crypto';
import { isEmailErased } from '../domain/erased-email.ts';
import type { IpnTokens } from '../domain/ipn-token.ts';
import type { Webhook } from '../domain/webhook.ts';
import { signWebhook } from '../domain/webhook-request.ts';

/**
 * Whether a webhook's signature belongs to the body that is kept of it; `unknown` when nothing was sent, or when the
 * secret of its ipn_token is not known any more; `erased` when the customer's e-mail address was taken out of the body.
 */
export function verifyWebhookSignature(
  tokens: IpnTokens,
  webhook: Webhook,
): 'good' | 'bad' | 'unknown' | 'erased' {
  const { body = null, signature = null } = webhook.result ?? {};
  if (body === null || signature === null || !tokens.knows(webhook.tokenFingerprint)) return 'unknown';
  if (isEmailErased(body)) return 'erased';
  const token = tokens.create(webhook.paymentId, webhook.tokenFingerprint);
  const [expected, found] = [Buffer.from(signWebhook(body, token)), Buffer.from(signature)];
  return expected.length === found.length && timingSafeEqual(expected, found) ? 'good' : 'bad';
}
