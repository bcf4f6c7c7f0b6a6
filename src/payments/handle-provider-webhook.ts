import { ServiceError, UnknownStateError } from '../domain/errors.ts';
import { isPaymentId } from '../domain/payment-id.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';
import {
  NoticeRefusedError,
  type PostedNotice,
  type ProviderAdapters,
  type ProviderNotice,
} from '../domain/ports/provider.ts';
import type { ProviderId } from '../domain/provider-catalogue.ts';
import type { ProviderSession } from '../domain/provider-session.ts';

/**
 * What became of a notice: `noted` moved a visit's progress, `stale` was known already or overtaken, `irrelevant` says
 * nothing of a payment, `unmatched` is of no visit of ours, `unknown_state` uses a word that nobody knows, `refused`
 * is not authentic.
 */
export type NoticeOutcome = 'noted' | 'stale' | 'irrelevant' | 'unmatched' | 'unknown_state' | 'refused';

export interface TakeNoticeContext {
  readonly payments: Pick<PaymentStore, 'viewPayment' | 'noteSessionProgress'>;
  readonly adapters: ProviderAdapters;
}

/** The outcome, and for those that an operator should look at, why. */
export interface TakenNotice {
  readonly outcome: NoticeOutcome;
  readonly reason: Error | null;
}

/**
 * Takes what was posted in a provider's name. It moves the progress that the customer sees and nothing else: what
 * counts as paid is decided by the chain alone. Throws `ServiceError` not_found where the provider tells us nothing,
 * and provider_unavailable where a notice could not be judged.
 */
export async function takeNotice(
  context: TakeNoticeContext,
  provider: ProviderId,
  posted: PostedNotice,
): Promise<TakenNotice> {
  const readNotice = context.adapters.get(provider)?.readNotice;
  if (readNotice === undefined) throw new ServiceError('not_found');
  let notice: ProviderNotice | null;
  try {
    notice = await readNotice(posted);
  } catch (error) {
    if (error instanceof NoticeRefusedError) return { outcome: 'refused', reason: error };
    if (error instanceof UnknownStateError) return { outcome: 'unknown_state', reason: error };
    throw error;
  }
  if (notice === null) return { outcome: 'irrelevant', reason: null };
  return await noteProgress(context, providersAt(context.adapters, provider), posted, notice);
}

/** The provider, and those whose visits happen there. */
function providersAt(
  adapters: ProviderAdapters,
  provider: ProviderId,
): readonly [ProviderId, ...ProviderId[]] {
  const routed = [...adapters.values()].filter(({ routedThrough }) => routedThrough === provider);
  return [provider, ...routed.map(({ id }) => id)];
}

async function noteProgress(
  { payments }: TakeNoticeContext,
  providers: readonly [ProviderId, ...ProviderId[]],
  posted: PostedNotice,
  notice: ProviderNotice,
): Promise<TakenNotice> {
  const view = isPaymentId(notice.paymentId) ? await payments.viewPayment(notice.paymentId) : null;
  const session = view === null ? null : sessionOf(view.sessions, providers, notice);
  // Our id may stand where the signature does not reach; the wallet does not.
  const wallet = notice.walletAddress?.toLowerCase() ?? view?.payment.depositAddress.toLowerCase();
  if (view === null || session === null || wallet !== view.payment.depositAddress.toLowerCase()) {
    const reason = new Error(`${providers[0]} told of a visit that was never begun here`);
    return { outcome: 'unmatched', reason };
  }
  // A provider whose clock runs fast must not keep later news out.
  const atMs = Math.min(notice.atMs, posted.receivedAtMs);
  const isNews = await payments.noteSessionProgress(view.payment, session.id, notice.progress, atMs);
  return { outcome: isNews ? 'noted' : 'stale', reason: null };
}

/** The visit a notice names, or the latest at that provider where it names none. */
function sessionOf(
  sessions: readonly ProviderSession[],
  providers: readonly ProviderId[],
  { providerReference }: ProviderNotice,
): ProviderSession | null {
  const possible = sessions.filter(
    (session) =>
      providers.includes(session.provider) &&
      (providerReference === null || session.providerReference === providerReference),
  );
  return possible.at(-1) ?? null;
}
