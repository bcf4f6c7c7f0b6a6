import { ServiceError, UnknownStateError } from '../domain/errors.ts';
import { isPaymentId } from '../domain/payment-id.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';
import {
  type PostedWebhook,
  type ProviderAdapters,
  type ProviderWebhook,
  ProviderWebhookRefusedError,
} from '../domain/ports/provider.ts';
import type { ProviderId } from '../domain/provider-catalogue.ts';
import type { ProviderSession } from '../domain/provider-session.ts';

/**
 * What became of a webhook: `noted` moved a visit's progress, `stale` was known already or overtaken, `irrelevant` says
 * nothing of a payment, `unmatched` is of no visit of ours, `unknown_state` uses a word that nobody knows, `refused`
 * is not authentic.
 */
export type ProviderWebhookOutcome =
  | 'noted'
  | 'stale'
  | 'irrelevant'
  | 'unmatched'
  | 'unknown_state'
  | 'refused';

export interface HandleProviderWebhookContext {
  readonly payments: Pick<PaymentStore, 'viewPayment' | 'noteSessionProgress'>;
  readonly adapters: ProviderAdapters;
}

/** The outcome, and for those that an operator should look at, why. */
export interface HandledWebhook {
  readonly outcome: ProviderWebhookOutcome;
  readonly reason: Error | null;
}

/**
 * Takes what was posted in a provider's name. It moves the progress that the customer sees and nothing else: what
 * counts as paid is decided by the chain alone. Throws `ServiceError` not_found where the provider tells us nothing,
 * and provider_unavailable where a webhook could not be judged.
 */
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
    throw error;
  }
  if (webhook === null) return { outcome: 'irrelevant', reason: null };
  return await recordProgress(context, providersAt(context.adapters, provider), posted, webhook);
}

/** The provider, and those whose visits happen there. */
function providersAt(
  adapters: ProviderAdapters,
  provider: ProviderId,
): readonly [ProviderId, ...ProviderId[]] {
  const routed = [...adapters.values()].filter(({ routedThrough }) => routedThrough === provider);
  return [provider, ...routed.map(({ id }) => id)];
}

async function recordProgress(
  { payments }: HandleProviderWebhookContext,
  providers: readonly [ProviderId, ...ProviderId[]],
  posted: PostedWebhook,
  webhook: ProviderWebhook,
): Promise<HandledWebhook> {
  const view = isPaymentId(webhook.paymentId) ? await payments.viewPayment(webhook.paymentId) : null;
  const session = view === null ? null : sessionOf(view.sessions, providers, webhook);
  // Our id may stand where the signature does not reach; the wallet does not.
  const wallet = webhook.walletAddress?.toLowerCase() ?? view?.payment.depositAddress.toLowerCase();
  if (view === null || session === null || wallet !== view.payment.depositAddress.toLowerCase()) {
    const reason = new Error(`${providers[0]} reported a session that was not started here`);
    return { outcome: 'unmatched', reason };
  }
  // A provider whose clock runs fast must not keep later news out.
  const atMs = Math.min(webhook.atMs, posted.receivedAtMs);
  const isNews = await payments.noteSessionProgress(view.payment, session.id, webhook.progress, atMs);
  return { outcome: isNews ? 'noted' : 'stale', reason: null };
}

/** The visit a webhook names, or the latest at that provider where it names none. */
function sessionOf(
  sessions: readonly ProviderSession[],
  providers: readonly ProviderId[],
  { providerReference }: ProviderWebhook,
): ProviderSession | null {
  const possible = sessions.filter(
    (session) =>
      providers.includes(session.provider) &&
      (providerReference === null || session.providerReference === providerReference),
  );
  return possible.at(-1) ?? null;
}
