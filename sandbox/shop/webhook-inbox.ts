import { WebhookError } from '../../sdk/src/errors.ts';
import { constructEventAsync } from '../../sdk/src/webhooks.ts';

export interface InboxWebhook {
  readonly receivedAtMs: number;
  /** Payment id of a genuine webhook; null for a refused webhook. */
  readonly paymentId: string | null;
  readonly rawBody: string;
  readonly signature: string | null;
  /** Reason for the refusal; null for a genuine webhook. */
  readonly problem: string | null;
}

export type WebhookInbox = ReturnType<typeof createWebhookInbox>;

/** Maximum webhooks in memory. A restart of the sandbox drops them. */
const MAXIMUM_WEBHOOKS = 50;
const MAXIMUM_BODY_CHARACTERS = 4_000;
const MAXIMUM_SIGNATURE_CHARACTERS = 200;

/**
 * Receives, verifies and keeps the webhooks of checkouts that no shop created.
 *
 * @param ipnTokenOf returns the token that the merchant received at creation, or null for an invalid id
 */
export function createWebhookInbox(ipnTokenOf: (paymentId: string) => string | null, nowMs: () => number) {
  const webhooks: InboxWebhook[] = [];
  return {
    /** Verifies and keeps a webhook. Resolves to the HTTP status. */
    async receive(rawBody: string, signature: string | undefined): Promise<number> {
      const { paymentId, problem, status } = await verify(rawBody, signature, ipnTokenOf);
      webhooks.unshift({
        receivedAtMs: nowMs(),
        paymentId,
        rawBody: rawBody.slice(0, MAXIMUM_BODY_CHARACTERS),
        signature: signature?.slice(0, MAXIMUM_SIGNATURE_CHARACTERS) ?? null,
        problem,
      });
      if (webhooks.length > MAXIMUM_WEBHOOKS) webhooks.pop();
      return status;
    },
    list: (): readonly InboxWebhook[] => webhooks,
  };
}

async function verify(
  rawBody: string,
  signature: string | undefined,
  ipnTokenOf: (paymentId: string) => string | null,
): Promise<Pick<InboxWebhook, 'paymentId' | 'problem'> & { readonly status: number }> {
  try {
    const { paymentId } = await constructEventAsync(rawBody, signature, ipnTokenOf);
    return { paymentId, problem: null, status: 200 };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return { paymentId: null, problem: error.message, status: error.httpStatus };
  }
}
