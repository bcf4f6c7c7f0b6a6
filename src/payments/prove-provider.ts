import { ServiceError } from '../domain/errors.ts';
import { currencies, formatCents, formatUnits } from '../domain/money.ts';
import type { PaymentView } from '../domain/ports/payment-store.ts';
import type { ProviderAdapter, RecordedAnswer, StartedSession } from '../domain/ports/provider.ts';
import { NATIVE_USDC, providerCatalogue } from '../domain/provider-catalogue.ts';
import type { EvidenceStep, EvidenceStore, ProviderEvidence } from '../domain/provider-evidence.ts';
import { redactText } from '../platform/redact.ts';
import {
  askQuote,
  attempt,
  fine,
  quoteRequestOf,
  startSession,
  type TrialRequest,
} from './check-provider.ts';
import type { VerifiedChain } from './verify/verify-context.ts';

/** The request of a proof. */
export interface ProveRequest extends TrialRequest {
  readonly adapter: ProviderAdapter;
  readonly nowMs: () => number;
  /** Between two calls: some providers take only a few a second. */
  readonly pause: () => Promise<void>;
}

/** What the operator compares with the page. */
export interface ProvenFacts {
  readonly amount: string;
  readonly currency: string;
  readonly asset: 'USDC';
  readonly network: 'Polygon';
  readonly wallet: string;
}

export interface ProviderTrial {
  readonly evidence: ProviderEvidence;
  readonly facts: ProvenFacts;
  /** Null where no session started. */
  readonly url: string | null;
  /** The URL of another session in which the wallet was changed: the provider must refuse it, or keep the wallet. */
  readonly alteredUrl: string | null;
  readonly answers: readonly RecordedAnswer[];
}

/** A burn address without a known key. The altered URL contains it, so that URL must never be paid. */
export const FOREIGN_WALLET = '0x000000000000000000000000000000000000dEaD';

/** Reads the catalogue, requests a quote in each currency, and starts two sessions. Makes no payment. */
export async function tryProvider(request: ProveRequest): Promise<ProviderTrial> {
  const answers: RecordedAnswer[] = [];
  const { adapter } = request;
  const work = () => collect(request, answers);
  const { steps, sessions } = await (adapter.recordAnswers?.(answers, work) ?? work());
  const [session, other] = sessions;
  return {
    evidence: {
      provider: request.provider,
      environment: adapter.endpoint?.environment ?? 'simulated',
      urls: adapter.endpoint?.urls ?? [],
      atMs: request.nowMs(),
      charge: `${formatCents(request.amountCents)} ${request.currency}`,
      country: request.country,
      steps: steps.map((each) => ({ ...each, detail: redactText(each.detail) })),
      confirmedAtMs: null,
      purchase: null,
    },
    facts: {
      amount: formatCents(request.amountCents),
      currency: request.currency,
      asset: 'USDC',
      network: 'Polygon',
      wallet: request.wallet,
    },
    url: session?.redirectUrl ?? null,
    alteredUrl: other === undefined ? null : alter(other.redirectUrl, request.wallet),
    answers,
  };
}

async function collect(request: ProveRequest, answers: readonly RecordedAnswer[]) {
  const steps: EvidenceStep[] = [await attempt('catalogue', () => readCatalogue(request))];
  const { onlyCurrency } = providerCatalogue[request.provider];
  for (const currency of currencies) {
    await request.pause();
    if (onlyCurrency !== null && currency !== onlyCurrency) continue;
    const step = await attempt('quote', () => askQuote(request.adapter, request, currency));
    // Few providers sell in all four; the currency of the proof has to be one of them.
    const isFatal = currency === request.currency;
    steps.push(step.outcome === 'failed' && !isFatal ? { ...step, outcome: 'skipped' } : step);
  }
  const sessions: StartedSession[] = [];
  const before = answers.length;
  for (let count = 0; count < 2; count++) {
    await request.pause();
    const step = await attempt('session', async () => {
      sessions.push(await startSession(request.adapter, request));
      return fine('A session was created.');
    });
    if (step.outcome === 'failed' || count === 1) {
      steps.push(step);
      break;
    }
  }
  const [session] = sessions;
  if (session !== undefined) steps.push(readLocks(request, session, answers.slice(before)));
  return { steps, sessions };
}

async function readCatalogue(request: ProveRequest) {
  const { adapter, amountCents, currency } = request;
  if (adapter.readCatalogue === undefined)
    return { outcome: 'skipped' as const, detail: 'No catalogue is known.' };
  const entry = await adapter.readCatalogue(await quoteRequestOf(request, currency));
  const limit = (cents: number | null) =>
    cents === null ? 'not stated' : `${formatCents(cents)} ${currency}`;
  const detail = `${entry.asset}, contract ${entry.tokenContract ?? 'not stated'}, minimum ${limit(entry.minimumCents)}, maximum ${limit(entry.maximumCents)}.`;
  const isWithin =
    amountCents >= (entry.minimumCents ?? 0) &&
    amountCents <= (entry.maximumCents ?? Number.MAX_SAFE_INTEGER);
  return isWithin
    ? fine(detail)
    : { outcome: 'failed' as const, detail: `${detail} The amount is outside of the limits.` };
}

/** Which of the locked facts the session's URL or the provider's answers repeat; only the page shows the others. */
function readLocks(
  { amountCents, currency, wallet }: ProveRequest,
  { redirectUrl }: StartedSession,
  answers: readonly RecordedAnswer[],
): EvidenceStep {
  const said = [...new URL(redirectUrl).searchParams, ...answers.flatMap(({ body }) => valuesOf(body))];
  const says = (name: RegExp, expected: readonly string[]) =>
    said.some(([key, value]) => name.test(key) && expected.includes(value.toLowerCase()));
  const amounts = [formatCents(amountCents), String(amountCents), String(amountCents / 100)];
  const read: readonly (readonly [string, boolean])[] = [
    ['wallet', says(/./, [wallet.toLowerCase()])],
    ['amount', says(/amount|value/i, amounts)],
    ['currency', says(/currency|fiat|inAsset/i, [currency.toLowerCase()])],
    ['asset', says(/./, ['usdc', 'matic_usdc', 'usdc_polygon', 'usdc-pol'])],
    ['network', says(/./, ['polygon', 'matic', 'matic_usdc', 'usdc_polygon', 'usdc-pol'])],
  ];
  const namesOf = (isRead: boolean) =>
    read
      .filter(([, each]) => each === isRead)
      .map(([name]) => name)
      .join(', ') || 'nothing';
  const detail = `Read back: ${namesOf(true)}. To compare on the page: ${namesOf(false)}.`;
  return { step: 'locks', ...fine(detail) };
}

const MAXIMUM_DEPTH = 8;

/** The texts and numbers of an answer by their keys. */
function valuesOf(value: unknown, key = '', depth = 0): readonly (readonly [string, string])[] {
  if (typeof value === 'string' || typeof value === 'number') return [[key, String(value)]];
  if (typeof value !== 'object' || value === null || depth > MAXIMUM_DEPTH) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    valuesOf(each, Array.isArray(value) ? key : name, depth + 1),
  );
}

/** The URL with another wallet in place of ours, or added where ours is not in it. */
function alter(redirectUrl: string, wallet: string): string {
  const altered = redirectUrl.replaceAll(new RegExp(wallet, 'gi'), FOREIGN_WALLET);
  if (altered !== redirectUrl) return altered;
  const url = new URL(redirectUrl);
  url.searchParams.append('walletAddress', FOREIGN_WALLET);
  return url.href;
}

/** The newest evidence, where it is of the endpoint that is used now and nothing in it failed. */
async function usableEvidence(store: EvidenceStore, adapter: ProviderAdapter): Promise<ProviderEvidence> {
  const evidence = await store.readEvidence(adapter.id);
  const hasFailed = evidence?.steps.some(({ outcome }) => outcome === 'failed') ?? true;
  if (evidence === null || hasFailed || evidence.environment !== adapter.endpoint?.environment)
    throw new ServiceError(
      'not_found',
      `Run \`provider prove ${adapter.id}\` first, until each of its steps succeeds.`,
    );
  return evidence;
}

/** The page can be opened for minutes; a confirmation days later is of another page. */
const CONFIRMATION_MS = 2 * 60 * 60_000;

/** Records that the page showed the five facts, and that the provider refused the altered copy. */
export async function confirmPage(store: EvidenceStore, adapter: ProviderAdapter, nowMs: number) {
  const evidence = await usableEvidence(store, adapter);
  if (nowMs - evidence.atMs > CONFIRMATION_MS)
    throw new ServiceError('not_found', 'The last run is over two hours old. Run the command anew.');
  return { ...evidence, confirmedAtMs: nowMs };
}

/** Records a purchase: a paid payment with a session at this provider, whose transfer the chain shows. */
export async function recordPurchase(
  store: EvidenceStore,
  adapter: ProviderAdapter,
  view: PaymentView,
  token: string,
  chain: VerifiedChain | null,
): Promise<ProviderEvidence> {
  const evidence = await usableEvidence(store, adapter);
  const { payment, sessions } = view;
  const session = sessions.findLast(({ provider }) => provider === adapter.id);
  if (session === undefined)
    throw new ServiceError('not_found', 'The payment has no session at this provider.');
  if (payment.status !== 'paid' || payment.paidAtMs === null)
    throw new ServiceError('not_found', 'The payment is not paid yet.');
  const purchase = {
    paidAtMs: payment.paidAtMs,
    charged: `${formatCents(payment.amountCents)} ${payment.currency}`,
    ...(await readDelivery(view, chain)),
    token,
    isNativeUsdc: token.toLowerCase() === NATIVE_USDC.toLowerCase(),
    webhook: session.progress,
  };
  return { ...evidence, purchase };
}

/** Reads the transfer of the purchase from the chain again, and what its contract says of itself. */
async function readDelivery({ payment, observations }: PaymentView, chain: VerifiedChain | null) {
  const deposit = observations.deposits.find(({ transactionHash }) => transactionHash === payment.txidIn);
  const { blockNumber = 0 } = deposit ?? {};
  const recipients = [payment.depositAddress];
  const range = { fromBlock: blockNumber, toBlock: blockNumber, recipients, isCandidate: () => true };
  const found = await chain?.reader.withView((view) => view.readLogs({ ...range, withReleases: false }));
  const transfer = found?.transfers.find(({ transactionHash }) => transactionHash === payment.txidIn);
  const described = await chain?.token?.describe();
  if (transfer === undefined || described === undefined)
    throw new ServiceError('not_found', 'The chain does not show the transfer of this payment.');
  return { ...described, transaction: transfer.transactionHash, delivered: formatUnits(transfer.units) };
}
