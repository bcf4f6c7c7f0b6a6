import { invalidField } from '../../../domain/errors.ts';
import { currencies } from '../../../domain/money.ts';
import { amountMismatches } from '../../../domain/payment.ts';
import { isPaymentId, type PaymentId } from '../../../domain/payment-id.ts';
import type { PaymentQuery } from '../../../domain/payment-search.ts';
import { nextDate, startOfDate } from '../../../domain/time-zone.ts';
import {
  forwardStatuses,
  parsePaymentQuery,
  paymentProviders,
  paymentStatuses,
} from '../../../payments/parse-payment-query.ts';
import { type Html, html, nothing } from '../../design/html.ts';
import { DASHBOARD_PATH } from '../sections.ts';
import type { Visit } from '../visit.ts';
import { forwardLabel, mismatchLabel, providerName } from './payment-words.ts';

/** The parameters of the list's address, in their order. They say all there is to say, so that the address can be kept. */
const names = ['q', 'status', 'amount', 'forward', 'provider', 'currency', 'from', 'to'] as const;
type FilterName = (typeof names)[number];

/** A list as its address asks for it. */
export interface PaymentFilters {
  readonly query: PaymentQuery;
  readonly before: PaymentId | null;
  /** What was given, as text. */
  readonly given: Readonly<Partial<Record<FilterName, string>>>;
}

/** Throws `invalid_request` for what no list can be asked for. */
export function readFilters(visit: Visit): PaymentFilters {
  const given: Partial<Record<FilterName, string>> = {};
  for (const name of names) {
    const value = visit.query.get(name)?.trim();
    if (value) given[name] = value;
  }
  const query = parsePaymentQuery(visit.account.id, {
    ...(given.q === undefined ? {} : { search: given.q }),
    ...(given.status === undefined ? {} : { status: given.status }),
    ...(given.amount === undefined ? {} : { amountMismatch: given.amount }),
    ...(given.forward === undefined ? {} : { forwardStatus: given.forward }),
    ...(given.provider === undefined ? {} : { provider: given.provider }),
    ...(given.currency === undefined ? {} : { currency: given.currency }),
  });
  const before = visit.query.get('before');
  if (before !== null && !isPaymentId(before)) throw invalidField('before', 'must be a payment id');
  return {
    query: {
      ...query,
      ...(given.from === undefined ? {} : { fromMs: dateOf('from', given.from, visit.timeZone) }),
      ...(given.to === undefined ? {} : { beforeMs: dateOf('to', nextDateOf(given.to), visit.timeZone) }),
    },
    before,
    given,
  };
}

function dateOf(name: string, date: string, timeZone: string): number {
  const startMs = startOfDate(date, timeZone);
  if (startMs === null) throw invalidField(name, 'must be a date like 2026-11-21');
  return startMs;
}

/** The whole of the last day counts. What is no date is left for the message. */
function nextDateOf(date: string): string {
  return startOfDate(date, 'UTC') === null ? date : nextDate(date);
}

/** The address of a list, below the dashboard's. */
export function listPath(given: PaymentFilters['given'], path = '/payments', before?: PaymentId): string {
  const parameters = new URLSearchParams(given);
  if (before !== undefined) parameters.set('before', before);
  const query = parameters.toString();
  return `${DASHBOARD_PATH}${path}${query === '' ? '' : `?${query}`}`;
}

const labels: Readonly<Record<FilterName, string>> = {
  q: 'Search',
  status: 'Status',
  amount: 'Amount received',
  forward: 'Release',
  provider: 'Provider',
  currency: 'Currency',
  from: 'Created from',
  to: 'Created to',
};

/** One chip for each filter, which takes it away. */
export function filterChips(given: PaymentFilters['given']): Html {
  const chips = names.flatMap((name) => {
    const value = given[name];
    if (value === undefined) return [];
    const { [name]: _, ...others } = given;
    return [
      html`<li><a class="chip" href="${listPath(others)}"><span>${labels[name]}: <bdi>${shownValue(name, value)}</bdi></span><span aria-hidden="true">×</span><span class="quiet">, take this filter away</span></a></li>`,
    ];
  });
  if (chips.length === 0) return nothing;
  return html`<ul class="chips" aria-label="Filters">${chips}<li><a href="${DASHBOARD_PATH}/payments">Clear all</a></li></ul>`;
}

function shownValue(name: FilterName, value: string): string {
  const forward = name === 'forward' && forwardStatuses.find((status) => status === value);
  if (forward) return forwardLabel(forward);
  const mismatch = name === 'amount' && amountMismatches.find((choice) => choice === value);
  if (mismatch) return mismatchLabel(mismatch);
  const provider = name === 'provider' && paymentProviders.find((choice) => choice === value);
  return provider ? providerName(provider) : value;
}

/** The form that filters. */
export function filterForm(given: PaymentFilters['given']): Html {
  const others = (['status', 'amount', 'forward', 'provider', 'currency', 'from', 'to'] as const).some(
    (name) => given[name] !== undefined,
  );
  return html`<form class="filters" method="get" action="${DASHBOARD_PATH}/payments" role="search">
<div class="field"><label for="q">Search</label>
<input id="q" name="q" type="search" maxlength="320" value="${given.q ?? ''}" aria-describedby="q-hint" autocomplete="off">
<p class="hint" id="q-hint">Payment ID, short code, email, note, amount or transaction. The first three letters of a word are enough.</p></div>
<details${others ? html` open` : nothing}><summary>Filters</summary><div class="grid">
${choice('status', paymentStatuses, given.status, (value) => value)}
${choice('amount', amountMismatches, given.amount, mismatchLabel)}
${choice('forward', forwardStatuses, given.forward, forwardLabel)}
${choice('provider', paymentProviders, given.provider, providerName)}
${choice('currency', currencies, given.currency, (value) => value)}
${dateField('from', given.from)}
${dateField('to', given.to)}
</div></details>
<div class="actions"><button class="button primary">Show</button></div>
</form>`;
}

function choice<Value extends string>(
  name: FilterName,
  values: readonly Value[],
  chosen: string | undefined,
  wordsOf: (value: Value) => string,
): Html {
  const options = values.map(
    (value) =>
      html`<option value="${value}"${value === chosen ? html` selected` : nothing}>${wordsOf(value)}</option>`,
  );
  return html`<div class="field"><label for="${name}">${labels[name]}</label>
<select id="${name}" name="${name}"><option value="">Any</option>${options}</select></div>`;
}

function dateField(name: FilterName, value: string | undefined): Html {
  return html`<div class="field"><label for="${name}">${labels[name]}</label>
<input id="${name}" name="${name}" type="date" value="${value ?? ''}"></div>`;
}
