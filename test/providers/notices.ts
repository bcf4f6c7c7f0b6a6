import { createHmac } from 'node:crypto';
import type { PostedNotice } from '../../src/domain/ports/provider.ts';
import type { ProviderId } from '../../src/domain/provider-catalogue.ts';
import type { SessionProgress } from '../../src/domain/provider-session.ts';
import type { ProviderValues } from '../../src/domain/provider-variables.ts';

/** What a notice is to say, in the provider's own words. */
export interface NoticeContent {
  readonly paymentId: string;
  readonly status: string;
  /** When it happened. */
  readonly atMs: number;
}

/** How one provider tells of payments, written a second time, from the documentation and not from the adapter. */
export interface NoticeCase {
  /** Every state of the provider, and what we take it for. */
  readonly states: Readonly<Record<string, SessionProgress>>;
  /** An authentic notice that says nothing of a payment. */
  readonly irrelevant: (values: ProviderValues, nowMs: number) => PostedNotice;
  readonly sign: (values: ProviderValues, content: NoticeContent, nowMs: number) => PostedNotice;
  /** The settings that authenticate notices. */
  readonly keys: readonly string[];
  /** Whether a notice carries its own time, so that one that was recorded grows old. */
  readonly growsOld: boolean;
}

function hmacHex(key: string | undefined, text: string): string {
  return createHmac('sha256', key ?? '')
    .update(text)
    .digest('hex');
}

function posted(body: string, headers: Readonly<Record<string, string>>, receivedAtMs: number): PostedNotice {
  return { target: '/providers/x/notices', headers, body: Buffer.from(body), receivedAtMs };
}

function moonpaySigned(values: ProviderValues, body: unknown, nowMs: number): PostedNotice {
  const text = JSON.stringify(body);
  const time = Math.floor(nowMs / 1000);
  const signature = hmacHex(values['WEBHOOK_KEY'], `${time}.${text}`);
  return posted(text, { 'moonpay-signature-v2': `t=${time},s=${signature}` }, nowMs);
}

export const noticeCases: Partial<Record<ProviderId, NoticeCase>> = {
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
};
