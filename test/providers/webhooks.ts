import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import type { SessionProgress } from '../../src/payment/provider-session.ts';
import type { ProviderValues } from '../../src/providers/adapters/define-provider.ts';
import type { PostedWebhook } from '../../src/providers/provider.ts';

/** What a webhook is to say, in the provider's own words. */
export interface WebhookContent {
  readonly paymentId: string;
  readonly status: string;
  /** When it happened. */
  readonly atMs: number;
}

/** How one provider tells of payments, written a second time, from the documentation and not from the adapter. */
export interface WebhookCase {
  /** Every state of the provider, and what we take it for. */
  readonly states: Readonly<Record<string, SessionProgress>>;
  /** An authentic webhook that says nothing of a payment. */
  readonly irrelevant: (values: ProviderValues, nowMs: number) => PostedWebhook;
  readonly sign: (values: ProviderValues, content: WebhookContent, nowMs: number) => PostedWebhook;
  readonly keys: readonly string[];
  /** The settings of the adapter, where those of the sandbox do not do. */
  readonly values?: ProviderValues;
  /** What the provider answers to calls that judging a webhook takes. */
  readonly answer?: (path: string, query: URLSearchParams) => { readonly body: unknown };
  /** The same webhook without any signature, where that is not in the headers. */
  readonly unsigned?: (webhook: PostedWebhook) => PostedWebhook;
  /** Whether a webhook carries its own time, so that one that was recorded grows old. */
  readonly growsOld: boolean;
  /** What a webhook is about is asked from the provider, so that it tells of now whenever it was written. */
  readonly tellsOfNow?: true;
}

function hmacHex(key: string | undefined, text: string): string {
  return createHmac('sha256', key ?? '')
    .update(text)
    .digest('hex');
}

function posted(
  body: string,
  headers: Readonly<Record<string, string>>,
  receivedAtMs: number,
): PostedWebhook {
  return { target: '/providers/x/webhooks', headers, body: Buffer.from(body), receivedAtMs };
}

function moonpaySigned(values: ProviderValues, body: unknown, nowMs: number): PostedWebhook {
  const text = JSON.stringify(body);
  const time = Math.floor(nowMs / 1000);
  const signature = hmacHex(values['WEBHOOK_KEY'], `${time}.${text}`);
  return posted(text, { 'moonpay-signature-v2': `t=${time},s=${signature}` }, nowMs);
}

const TRANSAK_TOKEN = 'the-access-token-of-the-moment';

/** A JWT put together by hand. */
function transakSigned(values: ProviderValues, payload: unknown, nowMs: number): PostedWebhook {
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(payload)}`;
  const digest = hmacHex(values['ACCESS_TOKEN'] ?? TRANSAK_TOKEN, text);
  const signature = Buffer.from(digest, 'hex').toString('base64url');
  return posted(JSON.stringify({ data: `${text}.${signature}` }), {}, nowMs);
}

const rampKeys = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
const otherKeys = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });

/** ECDSA over the JSON as it stands, DER, base64; what is sent has its keys in another order. */
function rampSigned(values: ProviderValues, sorted: string, query: string, nowMs: number): PostedWebhook {
  const { privateKey } = values['OTHER_KEY'] === undefined ? rampKeys : otherKeys;
  const signature = createSign('sha256').update(sorted).sign(privateKey, 'base64');
  const reversed = Object.fromEntries(Object.entries(JSON.parse(sorted) as object).reverse());
  const webhook = posted(JSON.stringify(reversed, null, 1), { 'x-body-signature': signature }, nowMs);
  return { ...webhook, target: `/providers/rampnetwork/webhooks${query}` };
}

/** With a signature of an earlier scheme and one of another secret beside it, as while a secret is exchanged. */
export function stripeSigned(values: ProviderValues, body: unknown, nowMs: number): PostedWebhook {
  const text = JSON.stringify(body);
  const time = Math.floor(nowMs / 1000);
  const signature = hmacHex(values['WEBHOOK_SECRET'], `${time}.${text}`);
  const header = `t=${time},v1=${'0'.repeat(64)},v1=${signature},v0=${'1'.repeat(64)}`;
  return posted(text, { 'stripe-signature': header }, nowMs);
}

/** What Wert's own API says of the order; a webhook of Wert's is only the reason to ask. */
const wertOrder = { paymentId: '', status: '' };

function wertRing(
  values: ProviderValues,
  { paymentId, status }: WebhookContent,
  nowMs: number,
): PostedWebhook {
  Object.assign(wertOrder, { paymentId, status });
  const body = `{"type":"order_update","click_id":"${paymentId}","order":{"address":"0x01"}}`;
  return { ...posted(body, {}, nowMs), target: `/providers/wert/webhooks?token=${values['NOTICE_TOKEN']}` };
}

/** Version, milliseconds and body, joined by full stops. */
function revolutSigned(
  values: ProviderValues,
  body: unknown,
  signedAtMs: number,
  nowMs: number,
): PostedWebhook {
  const text = JSON.stringify(body);
  const signature = hmacHex(values['WEBHOOK_SECRET'], ['v1', signedAtMs, text].join('.'));
  const headers = { 'revolut-request-timestamp': `${signedAtMs}`, 'revolut-signature': `v1=${signature}` };
  return posted(text, headers, nowMs);
}

/** With the second signature that covers headers beside it, which is not looked at. */
function coinbaseSigned(values: ProviderValues, body: unknown, nowMs: number): PostedWebhook {
  const text = JSON.stringify(body);
  const time = Math.floor(nowMs / 1000);
  const signature = hmacHex(values['WEBHOOK_SECRET'], `${time}.${text}`);
  const header = `t=${time},v0=${signature},h=host content-type,v1=${'0'.repeat(64)}`;
  return posted(text, { 'x-hook0-signature': header }, nowMs);
}

/** Method, path, nonce and body on lines of their own. */
function banxaSigned(values: ProviderValues, body: unknown, nowMs: number): PostedWebhook {
  const text = JSON.stringify(body);
  const signature = hmacHex(values['WEBHOOK_SECRET'], `POST\n/providers/banxa/webhooks\n1234\n${text}`);
  return posted(text, { authorization: `Bearer key:${signature}:1234` }, nowMs);
}

export const webhookCases: Partial<Record<ProviderId, WebhookCase>> = {
  moonpay: {
    states: {
      waitingPayment: 'paying',
      waitingAuthorization: 'paying',
      pending: 'delivering',
      completed: 'delivered',
      failed: 'failed',
    },
    keys: ['WEBHOOK_KEY'],
    growsOld: true,
    irrelevant: (values, nowMs) => moonpaySigned(values, { type: 'identity_check_updated', data: {} }, nowMs),
    sign: (values, { paymentId, status, atMs }, nowMs) =>
      moonpaySigned(
        values,
        {
          type: 'transaction_updated',
          data: { status, externalTransactionId: paymentId, updatedAt: new Date(atMs).toISOString() },
        },
        nowMs,
      ),
  },
  transak: {
    states: {
      AWAITING_PAYMENT_FROM_USER: 'paying',
      PAYMENT_DONE_MARKED_BY_USER: 'paying',
      PROCESSING: 'delivering',
      PENDING_DELIVERY_FROM_TRANSAK: 'delivering',
      ON_HOLD_PENDING_DELIVERY_FROM_TRANSAK: 'delivering',
      COMPLETED: 'delivered',
      CANCELLED: 'failed',
      FAILED: 'failed',
      REFUNDED: 'failed',
      EXPIRED: 'failed',
    },
    keys: ['ACCESS_TOKEN'],
    growsOld: false,
    answer: () => ({ body: { data: { accessToken: TRANSAK_TOKEN, expiresAt: 4_000_000_000 } } }),
    unsigned(webhook) {
      const { data } = JSON.parse(webhook.body.toString()) as { data: string };
      const [, payload] = data.split('.');
      const header = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
      return { ...webhook, body: Buffer.from(JSON.stringify({ data: `${header}.${payload}.` })) };
    },
    irrelevant: (values, nowMs) => transakSigned(values, { eventID: 'KYC_APPROVED' }, nowMs),
    sign: (values, { paymentId, status, atMs }, nowMs) =>
      transakSigned(
        values,
        {
          eventID: 'ORDER_PROCESSING',
          createdAt: new Date(atMs).toISOString(),
          webhookData: { id: 'order', status, partnerOrderId: paymentId },
        },
        nowMs,
      ),
  },
  rampnetwork: {
    states: {
      INITIALIZED: 'paying',
      PAYMENT_STARTED: 'paying',
      PAYMENT_IN_PROGRESS: 'paying',
      PAYMENT_EXECUTED: 'delivering',
      FIAT_SENT: 'delivering',
      FIAT_RECEIVED: 'delivering',
      RELEASING: 'delivering',
      RELEASED: 'delivered',
      PAYMENT_FAILED: 'failed',
      EXPIRED: 'failed',
      CANCELLED: 'failed',
      REVIEW_REJECTED: 'failed',
    },
    values: { WEBHOOK_PUBLIC_KEY: rampKeys.publicKey.export({ format: 'pem', type: 'spki' }).toString() },
    keys: ['OTHER_KEY'],
    growsOld: false,
    irrelevant: (values, nowMs) => rampSigned(values, '{"offrampPurchase":{},"type":"CREATED"}', '', nowMs),
    sign: (values, { paymentId, status, atMs }, nowMs) =>
      rampSigned(
        values,
        // With its keys in order, as it is signed.
        `{"purchase":{"receiverAddress":"0x1","status":"${status}","updatedAt":"${new Date(atMs).toISOString()}"},"type":"CREATED"}`,
        `?payment_id=${paymentId}`,
        nowMs,
      ),
  },
  stripe: {
    states: {
      initialized: 'paying',
      requires_payment: 'paying',
      quote_ready: 'paying',
      fulfillment_processing: 'delivering',
      fulfillment_complete: 'delivered',
      rejected: 'failed',
    },
    keys: ['WEBHOOK_SECRET'],
    growsOld: true,
    irrelevant: (values, nowMs) => stripeSigned(values, { type: 'charge.succeeded', data: {} }, nowMs),
    sign: (values, { paymentId, status, atMs }, nowMs) =>
      stripeSigned(
        values,
        {
          type: 'crypto.onramp_session.updated',
          created: Math.floor(atMs / 1000),
          data: { object: { id: 'cos_1', status, metadata: { payment_id: paymentId } } },
        },
        nowMs,
      ),
  },
  wert: {
    states: {
      created: 'paying',
      pending: 'paying',
      progress: 'delivering',
      success: 'delivered',
      failed: 'failed',
      cancelled: 'failed',
    },
    keys: ['NOTICE_TOKEN'],
    growsOld: false,
    tellsOfNow: true,
    answer: (_path, query) => {
      const isKnown = query.get('search_by') === wertOrder.paymentId;
      return { body: { data: isKnown ? [{ id: 'order', status: wertOrder.status }] : [] } };
    },
    unsigned: (webhook) => ({ ...webhook, target: '/providers/wert/webhooks' }),
    irrelevant: (values, nowMs) => ({
      ...posted('{"type":"test"}', {}, nowMs),
      target: `/providers/wert/webhooks?token=${values['NOTICE_TOKEN']}`,
    }),
    sign: wertRing,
  },
  revolut: {
    states: {
      ORDER_CREATED: 'paying',
      ORDER_PROCESSING: 'delivering',
      ORDER_COMPLETED: 'delivered',
      ORDER_FAILED: 'failed',
    },
    keys: ['WEBHOOK_SECRET'],
    growsOld: true,
    irrelevant: (values, nowMs) => revolutSigned(values, { event: 'WEBHOOK_CREATED' }, nowMs, nowMs),
    sign: (values, { paymentId, status }, nowMs) =>
      revolutSigned(values, { order_id: paymentId, wallet: '0x01', event: status }, nowMs, nowMs),
  },
  coinbase: {
    states: {
      ONRAMP_TRANSACTION_STATUS_CREATED: 'paying',
      ONRAMP_TRANSACTION_STATUS_IN_PROGRESS: 'delivering',
      ONRAMP_TRANSACTION_STATUS_SUCCESS: 'delivered',
      ONRAMP_TRANSACTION_STATUS_FAILED: 'failed',
    },
    keys: ['WEBHOOK_SECRET'],
    growsOld: true,
    irrelevant: (values, nowMs) =>
      coinbaseSigned(values, { eventType: 'offramp.transaction.success', partnerUserRef: 'x' }, nowMs),
    sign: (values, { paymentId, status, atMs }, nowMs) =>
      coinbaseSigned(
        values,
        {
          completedAt: '0001-01-01T00:00:00Z',
          createdAt: new Date(atMs).toISOString(),
          eventType: 'onramp.transaction.updated',
          partnerUserRef: paymentId,
          status,
          walletAddress: '0x01',
        },
        nowMs,
      ),
  },
  banxa: {
    states: {
      pendingPayment: 'paying',
      waitingPayment: 'paying',
      extraVerification: 'paying',
      paymentReceived: 'delivering',
      inProgress: 'delivering',
      coinTransferred: 'delivering',
      cryptoTransferred: 'delivering',
      complete: 'delivered',
      completed: 'delivered',
      succeeded: 'delivered',
      cancelled: 'failed',
      declined: 'failed',
      expired: 'failed',
      refunded: 'failed',
    },
    keys: ['WEBHOOK_SECRET'],
    growsOld: false,
    irrelevant: (values, nowMs) => banxaSigned(values, { order_id: '1', order_type: 'SELL' }, nowMs),
    sign: (values, { paymentId, status, atMs }, nowMs) =>
      banxaSigned(
        values,
        {
          order_id: 'd9efc5d228cb7edfc4b6bb82f7b39f94',
          status,
          // Without the space, as in Banxa's own example.
          status_date: new Date(atMs).toISOString().slice(0, 19).replace('T', ''),
          external_id: paymentId,
          order_type: 'BUY',
        },
        nowMs,
      ),
  },
};
