import { ServiceError } from '../../payment/errors.ts';
import { formatCents } from '../../payment/money.ts';
import {
  isProviderId,
  type ProviderId,
  providerCatalog,
  providerIds,
} from '../../payment/provider-catalog.ts';
import { parseTypedAmount } from '../../payment/typed-input.ts';
import { changeProvider } from '../../providers/change-provider.ts';
import type { ProviderHealth, ProviderSettings } from '../../providers/provider.ts';
import {
  describeOffByDefault,
  onlyCurrencyOf,
  type ProviderState,
  stateOfProvider,
} from '../../providers/provider-availability.ts';
import { proofOf } from '../../providers/provider-evidence.ts';
import { dataTable, headings, numbers, sentences } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { utcTime } from '../../web/signed-in/format.ts';
import * as forms from '../../web/signed-in/forms.ts';
import { type FormHandler, type PageView, seeOther } from '../../web/signed-in/pages.ts';
import { confirmedForm, requirePasswordAndFactor } from '../dashboard/security-pages.ts';
import {
  OPERATOR_PATH,
  type OperatorContext,
  type OperatorRoutes,
  type OperatorVisit,
} from './operator-page.ts';

export type Provider = Readonly<Awaited<ReturnType<typeof readProvider>>>;

export function registerProviderPages(routes: OperatorRoutes): void {
  const pages = routes.pages('providers');
  pages.page('/providers', showAll);
  pages.page('/providers/:provider', showOne);
  pages.form('/providers/:provider', answerChange, showOne);
}

export function readProviders(context: OperatorContext): Promise<readonly Provider[]> {
  return Promise.all(providerIds.map((id) => readProvider(context, id)));
}

async function readProvider({ directory }: OperatorContext, id: ProviderId) {
  const adapter = directory.adapters.get(id);
  const settings = await directory.settings.readProviderSettings(id);
  return {
    id,
    state: stateOfProvider(directory, id, settings),
    adapter,
    settings,
    /** Health; null if the provider is not configured and thus not monitored. */
    health: adapter?.health?.() ?? null,
    proof: proofOf((await directory.evidence?.readEvidence(id)) ?? null, adapter?.endpoint),
  };
}

const answerChange: FormHandler<OperatorVisit> = async (visit, form) => {
  const id = idOf(visit);
  const change = changeOf(form);
  if ('minimumUsdCents' in change) await requirePasswordAndFactor(visit, form, {});
  await changeProvider(visit.context, id, change, visit.actor);
  return seeOther(`/providers/${id}?flash=saved`);
};

function idOf({ params }: OperatorVisit): ProviderId {
  const id = params['provider'] ?? '';
  if (!isProviderId(id)) throw new ServiceError('not_found');
  return id;
}

function changeOf(form: forms.FormFields): Partial<ProviderSettings> {
  if (form.has('switch_on')) return { active: true };
  if (form.has('switch_off')) return { active: false };
  if (form.has('pin')) return { pinned: form.text('pin') === '1' };
  const typed = form.text('minimum').trim();
  if (typed === '') return { minimumUsdCents: null };
  return { minimumUsdCents: parseTypedAmount('minimum', typed, 'USD') };
}

async function showAll({ context }: OperatorVisit): Promise<PageView> {
  const providers = await readProviders(context);
  return {
    title: 'Providers',
    main: html`${warningOf(providers)}<p>The providers that customers can choose. Health covers the time since this process started.</p>
${dataTable('Providers', providers, {
  Provider: headings(providerLink),
  Status: stateBadge,
  Evidence: evidenceBadge,
  Health: ({ health }) => healthBadge(health),
  'Minimum in USD': numbers(({ id, settings }) =>
    formatCents(settings.minimumUsdCents ?? providerCatalog[id].minimumUsdCents),
  ),
  'Last failure': sentences(({ health }) => failureOf(health)),
})}
${deliveriesTable(context)}`,
  };
}

export function providerLink({ id }: Pick<Provider, 'id'>): Html {
  return html`<a href="${OPERATOR_PATH}/providers/${id}">${providerCatalog[id].name}</a>`;
}

const MAXIMUM_DELIVERY_ROWS = 100;

/** Renders only aggregates, which identify neither customer nor payment. */
function deliveriesTable({ directory }: OperatorContext): Html {
  const counted = directory.success?.()?.list() ?? [];
  if (counted.length === 0) return nothing;
  return html`<h2>Deliveries by provider and country</h2>
<p>Of the newest 2,000 visits of the last 30 days.
The estimate, which orders the list of the checkout, begins at an assumed share and follows the newest visits.</p>
${dataTable('Deliveries', counted.slice(0, MAXIMUM_DELIVERY_ROWS), {
  Provider: headings(({ provider }) => providerCatalog[provider].name),
  Country: ({ country }) => country ?? 'all',
  Visits: numbers(({ visits }) => visits),
  Delivered: numbers(({ delivered }) => delivered),
  'Estimated share': numbers(({ probability }) => `${Math.round(probability * 100)}%`),
})}`;
}

async function showOne(visit: OperatorVisit): Promise<PageView> {
  const { context } = visit;
  const provider = await readProvider(context, idOf(visit));
  const { name, minimumUsdCents } = providerCatalog[provider.id];
  const onlyCurrency = onlyCurrencyOf(context.directory.adapters, provider.id);
  const { health, settings } = provider;
  const path = `${OPERATOR_PATH}/providers/${provider.id}`;
  const isOff = provider.state === 'off' || settings.active === false;
  const minimum = forms.optional(
    'Minimum amount in USD',
    settings.minimumUsdCents === null ? '' : formatCents(settings.minimumUsdCents),
    `Empty for the catalog’s: ${formatCents(minimumUsdCents)}.`,
  );
  const isConfigured = provider.adapter !== undefined;
  const credentials = isConfigured
    ? 'configured'
    : html`none: set ${context.providerDescriptions[provider.id].requiredVariables.map((variable) => html`<code>${variable}</code> `)}, and restart`;
  const failures = health?.failuresInARow ? ` ${health.failuresInARow} failures in a row` : '';
  const button = (tone: string, field: string, value: string, label: string) =>
    html`<button class="button${tone}" name="${field}" value="${value}">${label}</button>`;
  return {
    title: name,
    main: html`${forms.flashOf(visit, { saved: 'Saved. It applies immediately.' })}${warningOf([provider])}
<form class="card" method="post" action="${path}"><h2>Status</h2><dl class="facts">
<div><dt>Offer</dt><dd>${stateBadge(provider)}</dd></div>
<div><dt>Place in the list</dt><dd>${settings.pinned === true ? 'first, where it can serve' : 'by what can be expected'}</dd></div>
<div><dt>Evidence</dt><dd>${evidenceBadge(provider)}</dd></div>
<div><dt>Credentials</dt><dd>${credentials}</dd></div>
<div><dt>Currency</dt><dd>${onlyCurrency === null ? 'all' : `${onlyCurrency} only`}</dd></div>
<div><dt>Limits in its catalog</dt><dd>${limitsOf(context, provider.id)}</dd></div>
<div><dt>Health</dt><dd>${healthBadge(health)}${failures}</dd></div>
<div><dt>Last answer</dt><dd>${health?.lastAnswerAtMs == null ? 'none since the start' : utcTime(health.lastAnswerAtMs)}</dd></div>
<div><dt>Last failure</dt><dd>${failureOf(health)}</dd></div></dl>
<div class="actions">${isOff ? button(' primary', 'switch_on', '1', 'Enable') : nothing}
${settings.pinned === true ? button('', 'pin', '0', 'Unpin') : button('', 'pin', '1', 'Pin')}</div></form>
${isOff ? nothing : disabling(path, name)}
${await confirmedForm(visit, { action: path, title: 'Minimum', fields: { minimum }, button: 'Save minimum' })}
<p class="soft small">To test the provider with your credentials, run <code>provider check ${provider.id}</code> on the command line;
to prove it before customers use it, <code>provider prove ${provider.id}</code>.</p>`,
  };
}

function disabling(action: string, name: string): Html {
  const effect = html`<p>No customer of any account can choose it any more, from the next page on.
Customers who are already at the provider can still pay, and their deposits are released. You can enable it again at any time.</p>`;
  const field = { name: 'switch_off', value: '1' };
  return html`<section class="card">${forms.foldedAction({ action, summary: 'Disable…', effect, button: `Disable ${name}`, field })}</section>`;
}

const stateBadges: Readonly<Record<ProviderState, Html>> = {
  offered: html`Offered`,
  not_configured: html`<span class="badge">Not configured</span>`,
  blocked: html`<span class="badge warn">Blocked</span>`,
  switched_off: html`<span class="badge warn">Switched off</span>`,
  off: html`<span class="badge warn">Off</span>`,
};

export function stateBadge({ state, adapter }: Provider): Html {
  return html`${stateBadges[state]} ${adapter?.blockedBecause ?? ''}`;
}

function evidenceBadge({ adapter, proof }: Provider): Html {
  if (adapter === undefined) return nothing;
  return html`${proof.isProved ? proof.text : html`<span class="badge warn">${proof.text}</span>`}`;
}

function warningOf(providers: readonly Provider[]): Html {
  const off = providers.filter(({ state }) => state === 'off').map(({ id }) => id);
  return off.length === 0 ? nothing : forms.banner('warn', describeOffByDefault(off));
}

/** Returns whether customers can choose the provider and its last call succeeded. */
export function isWorking({ state, health }: Provider): boolean {
  if (state !== 'offered' || health?.isCircuitOpen === true) return false;
  return (health?.failuresInARow ?? 0) === 0;
}

export function healthBadge(health: ProviderHealth | null): Html {
  if (health?.isCircuitOpen === true) return html`<span class="badge bad">Paused</span>`;
  if (health === null || health.lastAnswerAtMs === null) {
    return health?.lastFailureAtMs == null
      ? html`<span class="soft">No requests yet</span>`
      : html`<span class="badge warn">Degraded</span>`;
  }
  return health.failuresInARow === 0 ? html`Operational` : html`<span class="badge warn">Degraded</span>`;
}

function limitsOf({ directory: { limits } }: OperatorContext, id: ProviderId): Html {
  const known = limits?.list(id) ?? [];
  if (known.length === 0) return html`<span class="soft">none known: the minimum below counts</span>`;
  const amount = (cents: number | null) => (cents === null ? 'any' : formatCents(cents));
  return html`${known.map(
    ({ currency, minimumCents, maximumCents, readAtMs }) =>
      html`${amount(minimumCents)} to ${amount(maximumCents)} ${currency}, read ${utcTime(readAtMs)}<br>`,
  )}`;
}

function failureOf(health: ProviderHealth | null): Html {
  if (health?.lastFailureAtMs == null) return html`<span class="soft">none</span>`;
  return html`${utcTime(health.lastFailureAtMs)}<br><span class="small soft"><bdi>${health.lastFailure ?? ''}</bdi></span>`;
}
