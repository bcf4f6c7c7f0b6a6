import { createHmac } from 'node:crypto';

const USER_AGENT = 'card-checkout-webhook/1';

/** The signature of a webhook: hex HMAC-SHA256 of the raw body under the payment's ipn_token. */
export function signWebhook(body: string, ipnToken: string): string {
  return createHmac('sha256', ipnToken).update(body).digest('hex');
}

/** The headers of a webhook, exactly as they are sent; `hostname` without brackets. */
export function webhookHeaders(
  { hostname, port }: { readonly hostname: string; readonly port: number },
  bodyBytes: number,
  signature: string,
): Readonly<Record<string, string>> {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  return {
    Host: port === 443 ? host : `${host}:${port}`,
    'User-Agent': USER_AGENT,
    'Content-Type': 'application/json',
    'Content-Length': String(bodyBytes),
    'X-Service-Signature': signature,
    Connection: 'close',
  };
}
