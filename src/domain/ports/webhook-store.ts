import type { PaymentId } from '../payment-id.ts';
import type { WaitingWebhook, Webhook, WebhookResult } from '../webhook.ts';

export interface WebhookStore {
  /**
   * The oldest `perAccount` pending webhooks of each account that has any, save those to these hosts. What one account
   * has waiting makes no difference to what is seen of another.
   */
  listWaitingWebhooks(perAccount: number, exceptHosts: readonly string[]): Promise<readonly WaitingWebhook[]>;
  /** Durably moves those that are still pending to `sending` and returns them, oldest first; each is claimed once. */
  claimWebhooks(ids: readonly string[], nowMs: number): Promise<readonly Webhook[]>;
  /** Records how the one attempt ended. */
  recordWebhookResult(webhook: Pick<Webhook, 'id' | 'accountId'>, result: WebhookResult): Promise<void>;
  /** After a crash: every `sending` webhook claimed before `beforeMs` becomes `unknown` and is never sent again. */
  abandonStaleWebhooks(beforeMs: number): Promise<number>;
  listWebhooks(paymentId: PaymentId): Promise<readonly Webhook[]>;
}
