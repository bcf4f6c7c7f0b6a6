import type { PaymentId } from '../payment-id.ts';
import type { Webhook, WebhookResult } from '../webhook.ts';

export interface WebhookStore {
  /** Durably moves up to `limit` pending webhooks to `sending`, oldest first, and returns them; each is claimed once. */
  claimWebhooks(limit: number, nowMs: number): Promise<readonly Webhook[]>;
  /** Records how the one attempt ended. */
  recordWebhookResult(webhook: Pick<Webhook, 'id' | 'accountId'>, result: WebhookResult): Promise<void>;
  /** After a crash: every `sending` webhook claimed before `beforeMs` becomes `unknown` and is never sent again. */
  abandonStaleWebhooks(beforeMs: number): Promise<number>;
  listWebhooks(paymentId: PaymentId): Promise<readonly Webhook[]>;
}
