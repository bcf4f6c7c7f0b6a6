import { ServiceError, UnknownStateError } from '../payment/errors.ts';
import { isPaymentId } from '../payment/payment-id.ts';
import type { PaymentStore } from '../payment/payment-store.ts';
import { nameOfToken, type ProviderId } from '../payment/provider-catalog.ts';
import type { ProviderSession } from '../payment/provider-session.ts';
import {
  type PostedWebhook,
  type ProviderAdapters,
  type ProviderWebhook,
  ProviderWebhookRefusedError,
} from './provider.ts';

/**
 * Outcomes of a webhook. `noted`: updates a session's progress. `stale`: is already known or outdated. `irrelevant`: is
 * not about a payment. `unmatched`: belongs to no session of this service. `unknown_state`: has an unknown status or is
 * malformed. `refused`: is not authentic. `unverified`: cannot be checked, because a call to the provider failed.
 */
export const providerWebhookOutcomes = [
  'noted',
  'stale',
  'irrelevant',
  'unmatched',
  'unknown_state',
  'refused',
  'unverified',
] as const;
export type ProviderWebhookOutcome = (typeof providerWebhookOutcomes)[number];

export interface HandleProviderWebhookContext {
  readonly payments: Pick<PaymentStore, 'viewPayment' | 'recordSessionProgress'>;
  readonly adapters: ProviderAdapters;
  readonly usdc: string;
}

/** Outcome of a webhook, with a reason for the log if the operator should look into it. */
export interface HandledWebhook {
  readonly outcome: ProviderWebhookOutcome;
  readonly reason: Error | null;
}

/** Handles a webhook, which only changes the progress shown. Throws `not_found` for a provider without webhooks. */
export async function handleProviderWebhook(
  context: HandleProviderWebhookContext,
  provider: ProviderId,
  posted: PostedWebhook,
): Promise<HandledWebhook> {
  const readWebhook = context.adapters.get(provider)?.readWebhook;
  if (readWebhook === undefined) throw new ServiceError('not_found');
  let webhook: ProviderWebhook | null;
  try {
    webhook = await readWebhook(posted);
  } catch (error) {
    if (error instanceof ProviderWebhookRefusedError) return { outcome: 'refused', reason: error };
    if (error instanceof UnknownStateError) return { outcome: 'unknown_state', reason: error };
    if (!(error instanceof ServiceError)) throw error;
    return { outcome: 'unverified', reason: error.cause instanceof Error ? error.cause : error };
  }
  if (webhook === null) return { outcome: 'irrelevant', reason: null };
  const routed = [...context.adapters.values()].filter(({ routedThrough }) => routedThrough === provider);
  return await recordProgress(context, [provider, ...routed.map(({ id }) => id)], posted, webhook);
}

async function recordProgress(
  { payments, usdc }: HandleProviderWebhookContext,
  /** Provider at whose URL the webhook arrived, then the providers whose sessions it runs. */
  providers: readonly [ProviderId, ...ProviderId[]],
  posted: PostedWebhook,
  webhook: ProviderWebhook,
): Promise<HandledWebhook> {
  const view = isPaymentId(webhook.paymentId) ? await payments.viewPayment(webhook.paymentId) : null;
  const session = view === null ? null : sessionOf(view.sessions, providers, webhook);
  // Compares the wallet too, because a signature may cover the wallet but not the payment id.
  const wallet = webhook.walletAddress?.toLowerCase() ?? view?.payment.depositAddress.toLowerCase();
  if (view === null || session === null || wallet !== view.payment.depositAddress.toLowerCase()) {
    const reason = new Error(`${providers[0]} reported a session that was not started here`);
    return { outcome: 'unmatched', reason };
  }
  // Limited to the time of arrival, so that a provider's fast clock does not block later webhooks.
  const atMs = Math.min(webhook.atMs, posted.receivedAtMs);
  const isRecorded = await payments.recordSessionProgress(
    view.payment.id,
    session.id,
    webhook.progress,
    atMs,
  );
  return { outcome: isRecorded ? 'noted' : 'stale', reason: wrongToken(webhook, usdc) };
}

/** Returns an error if the provider delivers another token, with the command that rescues it; otherwise null. */
function wrongToken({ paymentId, tokenContract = null }: ProviderWebhook, usdc: string): Error | null {
  if (tokenContract === null || tokenContract.toLowerCase() === usdc.toLowerCase()) return null;
  return new Error(
    `The provider delivers ${nameOfToken(tokenContract)} and not USDC (${usdc}) for payment ${paymentId}. It does not ` +
      `count as paid. Once it has arrived, run: payment rescue ${paymentId} --token ${tokenContract.slice(0, 42)}`,
  );
}

/** Finds the session that the webhook names. If it names none, finds the latest session at these providers. */
function sessionOf(
  sessions: readonly ProviderSession[],
  providers: readonly ProviderId[],
  { providerReference }: ProviderWebhook,
): ProviderSession | null {
  const isPossible = (session: ProviderSession) =>
    providers.includes(session.provider) &&
    (providerReference === null || session.providerReference === providerReference);
  return sessions.findLast(isPossible) ?? null;
}
