import type { Payment } from '../../payment/payment.ts';
import { parsePaymentSearch } from '../../payment/payment-search.ts';
import { refusedStatuses } from '../../payment/payment-states.ts';
import { within } from '../../platform/outgoing-calls.ts';
import {
  type ChainView,
  type EndpointHealth,
  LAGGING_BLOCKS,
  LATE_SCAN_MS,
} from '../../settlement/chain/chain.ts';
import { lowGasWei, polOf, releasesPaidBy } from '../../settlement/chain/gas.ts';
import type { BlockReference, RelayBatch } from '../../settlement/settlement-store.ts';
import { dataTable, headings, numbers, sentences } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { counts, formatMoney, utcTime } from '../../web/signed-in/format.ts';
import { formField } from '../../web/signed-in/forms.ts';
import { type PageView, seeOther } from '../../web/signed-in/pages.ts';
import { forwardBadge } from '../../web/signed-in/payment-words.ts';
import {
  accountLink,
  OPERATOR_PATH,
  type OperatorContext,
  type OperatorRoutes,
  type OperatorVisit,
  paymentLink,
} from './operator-page.ts';
import { adviceFor } from './payment-detail.ts';

/** Time after which a release counts as overdue, the same as in the alert CardCheckoutReleaseOverdue. */
const OVERDUE_MS = 30 * 60_000;
const BATCHES_SHOWN = 50;
/** Maximum number of payments read. If there are more, the page says "or more". */
const COUNTED_PAYMENTS = 500;
const PAYMENTS_SHOWN = 50;
/** Timeout of chain reads, so that an unreachable node does not delay the page for long. */
const CHAIN_TIMEOUT_MS = 3_000;

export function registerSettlementPage(routes: OperatorRoutes): void {
  const pages = routes.pages('settlement');
  pages.page('/settlement', (visit) => showSettlement(visit, { value: '' }));
  pages.page('/payments', findPayment);
}

async function findPayment(visit: OperatorVisit) {
  const value = visit.query.get('payment') ?? '';
  const asked = parsePaymentSearch(value);
  const payment = asked?.kind === 'id' ? await visit.context.payments.findPaymentById(asked.id) : null;
  if (payment !== null) return seeOther(`/payments/${payment.id}`);
  const error = 'No payment has this id, short code or link.';
  return { ...(await showSettlement(visit, { value, error, hasFocus: true })), status: 404 };
}

async function showSettlement(
  { context }: OperatorVisit,
  search: { readonly value: string; readonly error?: string; readonly hasFocus?: true },
): Promise<PageView> {
  const { chain, observations, relay } = context;
  const [relayers, heads, cursor, batches, waiting] = await Promise.all([
    readRelayers(context),
    orNull(chain.withView(readHeads)),
    observations.readCursor(),
    relay.listOpenBatches(BATCHES_SHOWN),
    readWaiting(context),
  ]);
  return {
    title: 'Settlement',
    main: html`<form class="inline actions" method="get" action="${OPERATOR_PATH}/payments" role="search">
${formField('payment', { label: 'Payment ID, short code or link', value: search.value }, search)}<button class="button">Open payment</button></form>
${chainCard(context, cursor, heads)}
${relayersCard(relayers)}${endpointsCard(chain.listEndpoints())}
<section class="card"><h2>Releases in flight</h2>${batchTable(batches)}</section>
<section class="card" id="waiting"><h2>Payments that need attention</h2>${attentionTable(waiting)}</section>`,
  };
}

export function isOverdue(dueAtMs: number | null | undefined, nowMs: number): dueAtMs is number {
  return typeof dueAtMs === 'number' && nowMs - dueAtMs > OVERDUE_MS;
}

/** Returns payments whose release was refused, needs a person or is overdue. */
export async function readWaiting({ search, nowMs }: OperatorContext): Promise<readonly Payment[]> {
  const [refused, ready] = await Promise.all([
    search.listUnsettled(null, refusedStatuses, COUNTED_PAYMENTS),
    search.listUnsettled(null, ['ready'], COUNTED_PAYMENTS),
  ]);
  return [...refused, ...ready.filter(({ releaseDueAtMs }) => isOverdue(releaseDueAtMs, nowMs()))];
}

/** Resolves to the result within the timeout; null after a timeout or an error. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  return within(CHAIN_TIMEOUT_MS, asked, () => new Error('the chain did not answer in time')).catch(
    () => null,
  );
}

type Heads = Awaited<ReturnType<typeof readHeads>>;

/** Reads both heads of the chain from one endpoint. `final` is null until another host confirms it. */
async function readHeads(view: ChainView) {
  return { latest: await view.readLatest(), final: await view.readFinal() };
}

function chainCard({ nowMs }: OperatorContext, cursor: BlockReference | null, heads: Heads | null): Html {
  const lagMs = cursor === null ? null : nowMs() - cursor.timestampMs;
  const delay =
    lagMs === null
      ? html`<span class="soft">unknown</span>`
      : html`${Math.max(0, Math.round(lagMs / 1000))} s ${delayBadge(lagMs, heads)}`;
  return html`<section class="card"><h2>Chain</h2><dl class="facts">
<div><dt>Newest block</dt>
<dd>${heads === null ? html`<span class="badge bad">no endpoint answers</span>` : html`${heads.latest.number}, ${utcTime(heads.latest.timestampMs)}`}</dd></div>
<div><dt>Newest final block</dt><dd>${heads?.final == null ? html`<span class="soft">unknown</span>` : heads.final.number}</dd></div>
<div><dt>Read up to</dt><dd>${cursor === null ? html`<span class="soft">nothing yet</span>` : html`${cursor.number}, ${utcTime(cursor.timestampMs)}`}</dd></div>
<div><dt>Sync delay</dt><dd>${delay}</dd></div></dl></section>`;
}

/** Renders "up to date" only if another host confirms a final block, because releases need one. */
function delayBadge(lagMs: number, heads: Heads | null): Html {
  if (lagMs > LATE_SCAN_MS) return html`<span class="badge bad">late</span>`;
  return heads?.final == null ? nothing : html`<span class="badge good">up to date</span>`;
}

/** Reads the relayers of this process, with the number of releases that each balance covers. */
export async function readRelayers({ relayers }: Pick<OperatorContext, 'relayers'>) {
  const [balances, fees] = await Promise.all([
    Promise.all(relayers.map((relayer) => orNull(relayer.readGasBalance()))),
    orNull((relayers[0] as (typeof relayers)[number]).quoteFees()),
  ]);
  return relayers.map(({ address, signerFailure }, index) => {
    const balanceWei = balances[index] ?? null;
    const known = balanceWei === null || fees === null ? null : { balanceWei, fees };
    return {
      address,
      signerFailure: signerFailure(),
      balanceWei,
      isLow: known !== null && known.balanceWei < lowGasWei(known.fees),
      releases: known === null ? null : releasesPaidBy(known.balanceWei, known.fees),
    };
  });
}

type RelayerState = Awaited<ReturnType<typeof readRelayers>>[number];

export function isSupplied({ isLow, balanceWei, signerFailure }: RelayerState): boolean {
  return !isLow && balanceWei !== null && signerFailure === null;
}

export function relayerStatus({ isLow, balanceWei, signerFailure }: RelayerState): Html {
  if (isLow) return html`<span class="badge bad">low: send it POL, or releases stop</span>`;
  if (signerFailure !== null) return html`<span class="badge bad">cannot sign</span>`;
  return balanceWei === null ? html`<span class="badge warn">unknown</span>` : html`Sufficient`;
}

function relayersCard(relayers: readonly RelayerState[]): Html {
  return html`<section class="card" id="relayers"><h2>Relayers</h2>${dataTable('Relayers', relayers, {
    Address: headings(({ address }) => html`<code>${address}</code>`),
    'Balance in POL': numbers(({ balanceWei }) =>
      balanceWei === null ? html`<span class="soft">could not be read</span>` : polOf(balanceWei),
    ),
    'Lasts for payments': numbers(({ releases }) =>
      releases === null ? '–' : `about ${counts.format(releases)}`,
    ),
    Status: relayerStatus,
  })}<p class="soft small">The relayers of this process, at the current gas price.
Their keys control only this balance: the deposit contracts fix where deposits go.</p></section>`;
}

/** Time after a disagreement during which an endpoint counts as unhealthy. */
const DISAGREEMENT_MS = 10 * 60_000;

export function isWell({ lagBlocks, lastDisagreement, ...endpoint }: EndpointHealth): boolean {
  if (endpoint.isPaused || endpoint.isSlow || endpoint.isFailing) return false;
  const hasDisagreed = lastDisagreement !== null && lastDisagreement.agoMs < DISAGREEMENT_MS;
  return (lagBlocks ?? 0) <= LAGGING_BLOCKS && !hasDisagreed;
}

export function endpointStatus(endpoint: EndpointHealth): Html {
  if (isWell(endpoint)) return html`Operational`;
  if (endpoint.isPaused) return html`<span class="badge bad">Paused</span>`;
  if (endpoint.isFailing) return html`<span class="badge bad">Failing</span>`;
  if (endpoint.isSlow) return html`<span class="badge warn">Slow</span>`;
  return html`<span class="badge warn">Degraded</span>`;
}

function endpointsCard(endpoints: readonly EndpointHealth[]): Html {
  return html`<section class="card" id="endpoints"><h2>RPC endpoints</h2>${dataTable(
    'RPC endpoints',
    endpoints,
    {
      Endpoint: headings(({ label }) => html`<code>${label}</code>`),
      Status: endpointStatus,
      'Blocks behind': numbers(({ lagBlocks, isPaused, isFailing }) =>
        lagBlocks === null || isPaused || isFailing ? html`<span class="soft">unknown</span>` : lagBlocks,
      ),
      Disagreements: sentences(({ disagreements, lastDisagreement }) =>
        lastDisagreement === null
          ? html`<span class="soft">none</span>`
          : html`${counts.format(disagreements)}, last ${Math.round(lastDisagreement.agoMs / 60_000)} min ago: <bdi>${lastDisagreement.message}</bdi>`,
      ),
    },
  )}<p class="soft small">As this process has seen them since its start. To replace one, change <code>POLYGON_RPC_URL</code>, and restart.</p></section>`;
}

const none = html`<p class="soft">None.</p>`;

function batchTable(batches: readonly RelayBatch[]): Html {
  return dataTable({ label: 'Releases in flight', empty: none }, batches, {
    Batch: headings(
      ({ id, kind }) => html`${id}${kind === 'rescue' ? html` <span class="badge">rescue</span>` : nothing}`,
    ),
    Relayer: ({ relayer }) =>
      html`<code class="small" title="${relayer}">${relayer.slice(0, 8)}…${relayer.slice(-4)}</code>`,
    Nonce: numbers(({ nonce }) => nonce),
    Payments: ({ paymentIds }) =>
      html`${paymentIds.slice(0, 3).map(
        (paymentId) => html`${paymentLink(paymentId)}
`,
      )}${paymentIds.length > 3 ? html`and ${paymentIds.length - 3} more` : nothing}`,
    Attempts: numbers(({ attempts }) => attempts.length),
    Started: ({ createdAtMs }) => utcTime(createdAtMs),
  });
}

function attentionTable(payments: readonly Payment[]): Html {
  const label = 'Payments that need attention';
  const total = `${payments.length}${payments.length >= COUNTED_PAYMENTS ? ' or more' : ''}`;
  return html`${payments.length > PAYMENTS_SHOWN ? html`<p>The newest ${PAYMENTS_SHOWN} of ${total}.</p>` : nothing}
${dataTable({ label, empty: none }, payments.slice(0, PAYMENTS_SHOWN), {
  Payment: headings(({ id }) => paymentLink(id)),
  Account: ({ accountId }) => accountLink(accountId),
  Amount: numbers(({ amountCents, currency }) => formatMoney(amountCents, currency)),
  Release: forwardBadge,
  'Next step': sentences((payment) =>
    payment.forwardStatus === 'ready'
      ? 'The service keeps trying. Check the relayers’ balance and the RPC endpoints.'
      : adviceFor(payment),
  ),
})}`;
}
