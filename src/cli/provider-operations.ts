import { setTimeout as delay } from 'node:timers/promises';
import { operatorActor } from '../accounts/people-context.ts';
import type { Address } from '../payment/address.ts';
import { invalidField, ServiceError } from '../payment/errors.ts';
import { formatCents, usdUnits } from '../payment/money.ts';
import { createPaymentIdGenerator } from '../payment/payment-id.ts';
import { type ProviderId, providerCatalog, providerIds } from '../payment/provider-catalog.ts';
import { redactJson } from '../platform/redact.ts';
import { changeProvider, switchOnProved } from '../providers/change-provider.ts';
import {
  checkProvider,
  confirmPage,
  type ProveRequest,
  recordPurchase,
  type TrialRequest,
  tryProvider,
} from '../providers/prove-provider.ts';
import type { ProviderAdapter } from '../providers/provider.ts';
import { onlyCurrencyOf, readMinimumUsdCents } from '../providers/provider-availability.ts';
import { type ProviderEvidence, proofOf } from '../providers/provider-evidence.ts';
import { shapesOf, watchProvider } from '../providers/watch-provider.ts';
import * as argument from './arguments.ts';
import type { Operation, OperationArguments, OperationsContext } from './operations-context.ts';
import { presentProvider, presentPurchase, timeOf } from './present.ts';

/** Default amount, unless the provider's minimum is higher. */
const USUAL_AMOUNT_CENTS = 50_00;
/** Percentage of the provider's minimum. The margin covers exchange rates, because the minimum is in USD. */
const ABOVE_MINIMUM_PERCENT = 110;

/** `provider check`: requests a quote and starts a session with the operator's credentials. Pays nothing. */
const checkOperation: Operation = async (context, args) => {
  const provider = argument.requiredProvider(args, 'provider');
  const { adapters } = requireServer(context);
  const request = await trialOf(context, args, provider);
  const { requiredVariables } = context.providerDescriptions[provider];
  const steps = await checkProvider(request, adapters.get(provider), requiredVariables);
  return {
    provider,
    amount: `${formatCents(request.amountCents)} ${request.currency}`,
    is_fine: steps.every(({ outcome }) => outcome !== 'failed'),
    steps: steps.map(({ step, outcome, detail }) => ({ step, is_fine: outcome !== 'failed', detail })),
  };
};

async function trialOf(
  context: OperationsContext,
  args: OperationArguments,
  provider: ProviderId,
): Promise<TrialRequest> {
  const { rates } = requireServer(context);
  const { directory } = context;
  return {
    provider,
    currency:
      argument.optionalCurrency(args, 'currency') ?? onlyCurrencyOf(directory.adapters, provider) ?? 'USD',
    amountCents:
      argument.optionalAmountCents(args, 'amount') ??
      Math.max(USUAL_AMOUNT_CENTS, await minimumCents(context, provider)),
    country: argument.optionalCountry(args, 'country'),
    customerIp: argument.optionalPublicIp(args, 'ip'),
    wallet: await requireFeeWallet(context),
    newPaymentId: createPaymentIdGenerator(context.nowMs),
    usdUnitsOf: async (cents, currency) => usdUnits(cents, await rates.usdRate(currency)),
    returnUrl: context.baseUrl,
  };
}

function requireServer({ directory: { adapters }, rates }: OperationsContext) {
  if (adapters === null || rates === undefined)
    throw new ServiceError(
      'not_found',
      'A check needs a running server, because only the server has the credentials. If it is starting, try again in a minute.',
    );
  return { adapters, rates };
}

async function requireFeeWallet({ settlements }: OperationsContext): Promise<Address> {
  const [settlement] = await settlements.listSettlements();
  if (settlement === undefined) throw new ServiceError('not_found', 'The server has no fee wallet yet.');
  return settlement.feeWallet;
}

/** Pause between two calls of a proof, because some providers allow only a few per second. */
const PROOF_INTERVAL_MS = 300;

type ProofContext = ReturnType<typeof proofContext>;

function proofContext(context: OperationsContext, args: OperationArguments, provider: ProviderId) {
  const adapter = requireServer(context).adapters.get(provider);
  const store = context.directory.evidence;
  if (adapter === undefined || store === undefined)
    throw new ServiceError(
      'provider_inactive',
      `Credentials are missing: set ${context.providerDescriptions[provider].requiredVariables.join(', ')}, and restart.`,
    );
  return { context, args, provider, store, adapter: adapter.unguarded ?? adapter };
}

/** `provider watch`: checks whether providers answer harmless calls as recorded. Intended for a timer. */
const watchOperation: Operation = async (context, args) => {
  const isNamed = argument.optional(args, 'provider') !== null;
  const all = requireServer(context).adapters.keys();
  const watched = isNamed ? [argument.requiredProvider(args, 'provider')] : all;
  const checks = [];
  for (const provider of watched) {
    const proof = proofContext(context, args, provider);
    const { drift, comparedWithMs } = await watchProvider(await proveRequestOf(proof), proof.store);
    context.noteDrift?.(provider, drift?.text ?? null);
    const recorded = timeOf(comparedWithMs);
    const usual = recorded === null ? 'its answers are recorded' : `it answers as on ${recorded}`;
    const since = timeOf(drift?.sinceMs);
    const result =
      drift === null
        ? { level: 'ok', detail: usual }
        : { level: 'fail', detail: `${drift.text} since ${since}` };
    checks.push({ name: provider, isFine: drift === null, since, ...result });
  }
  return { checks };
};

/** `provider prove`: makes a run, its confirmation or the purchase, and stores it as evidence. */
const proveOperation: Operation = async (context, args) => {
  const provider = argument.requiredProvider(args, 'provider');
  const proof = proofContext(context, args, provider);
  const { store } = proof;
  if (args['purchase'] === true) return purchase(proof);
  const paymentId = argument.optional(args, 'payment');
  if (paymentId !== null) {
    const view = await context.payments.viewPayment(argument.requiredPaymentId(args, 'payment'));
    if (view === null) throw new ServiceError('payment_not_found');
    const token = (await context.settlements.listSettlements())[0]?.token ?? '';
    return presentEvidence(proof, await recordPurchase(store, proof.adapter, view, token, context.chain));
  }
  return args['confirm'] === true ? confirm(proof) : run(proof);
};

async function confirm(proof: ProofContext): Promise<unknown> {
  const { context, adapter, store } = proof;
  const evidence = await confirmPage(store, adapter, context.nowMs());
  const presented = await presentEvidence(proof, evidence);
  await switchOnProved(context, operatorActor);
  const next = proofOf(evidence, adapter.endpoint).isProved
    ? 'Confirmed. The provider is on, unless provider set has turned it off.'
    : `Confirmed, but this does not enable the provider: its base URLs are not those of production. To offer it unproved, run: provider set ${adapter.id} --active`;
  return { ...presented, next };
}

async function run(proof: ProofContext): Promise<unknown> {
  const { context, args, provider, adapter } = proof;
  const trial = await tryProvider(await proveRequestOf(proof));
  const presented = await presentEvidence(proof, trial.evidence);
  const isFine = trial.url !== null && presented.is_fine;
  if (isFine && adapter.endpoint !== undefined) {
    const shapes = { ...adapter.endpoint, atMs: context.nowMs(), calls: shapesOf(trial.offers), drift: null };
    await proof.store.writeShapes(provider, shapes);
    context.noteDrift?.(provider, null);
  }
  return {
    ...presented,
    facts: trial.facts,
    url: trial.url,
    altered_url: trial.alteredUrl,
    next: nextStep(adapter, isFine),
    ...(isFine ? { confirm: `provider prove ${provider} --confirm` } : {}),
    ...(args['fixtures'] === undefined ? {} : { fixtures: redactJson(trial.answers) }),
  };
}

async function proveRequestOf({ context, args, provider, adapter }: ProofContext): Promise<ProveRequest> {
  return {
    ...(await trialOf(context, args, provider)),
    adapter,
    nowMs: context.nowMs,
    pause: () => delay(PROOF_INTERVAL_MS),
  };
}

function nextStep({ checksReferrer }: ProviderAdapter, isFine: boolean): string {
  if (!isFine) return 'Correct what failed, and run the command anew.';
  const referrer =
    checksReferrer === true
      ? ' It checks from which site you come: set location in the console of a page of yours to each URL.'
      : '';
  return `Open url: the page must show the five facts. Open altered_url: the page must refuse it, or show your wallet. Do not pay on either page.${referrer} If both pages pass, confirm it.`;
}

async function presentEvidence({ store, adapter }: ProofContext, evidence: ProviderEvidence) {
  const file = await store.writeEvidence(evidence);
  return {
    provider: evidence.provider,
    environment: evidence.environment,
    base_urls: evidence.urls,
    charge: evidence.charge,
    is_fine: evidence.steps.every(({ outcome }) => outcome !== 'failed'),
    steps: evidence.steps,
    evidence: proofOf(evidence, adapter.endpoint).text,
    purchase: evidence.purchase === null ? null : presentPurchase(evidence.purchase),
    file,
  };
}

/** Creates the checkout of a real purchase of at most `--spend-up-to` USD, which the operator then pays. */
async function purchase({ context, args, provider }: ProofContext): Promise<unknown> {
  const limitCents = argument.optionalAmountCents(args, 'spend-up-to');
  if (limitCents === null)
    throw invalidField(
      '--spend-up-to',
      'is required with --purchase: the most that the purchase may cost, in USD',
    );
  const amountCents = await minimumCents(context, provider);
  if (amountCents > limitCents)
    throw invalidField(
      '--spend-up-to',
      `must be at least ${formatCents(amountCents)}, just above the provider's minimum`,
    );
  const { direct } = context;
  const account = await context.accounts.findAccount(argument.required(args, 'account'));
  if (account === null || direct === null) throw new ServiceError('not_found', 'The account does not exist.');
  if (account.wallet === null || account.defaultCallbackUrl === null)
    throw invalidField(
      'account',
      'must have a wallet and a default callback: run account update with --wallet and --default-callback',
    );
  const payment = await direct.createCheckout(account, {
    payoutAddress: account.wallet,
    callbackUrl: account.defaultCallbackUrl,
    amountCents,
    currency: 'USD',
    email: null,
    note: `provider prove ${provider}`,
  });
  return {
    payment_id: payment.id,
    page: `${context.baseUrl}/pay/${payment.id}`,
    amount: `${formatCents(amountCents)} USD`,
    next: `Open the page, choose ${providerCatalog[provider].name} and pay. When the payment is paid, run: provider prove ${provider} --payment ${payment.id}`,
  };
}

async function minimumCents({ directory }: OperationsContext, provider: ProviderId): Promise<number> {
  return Math.ceil(((await readMinimumUsdCents(directory, provider)) * ABOVE_MINIMUM_PERCENT) / 100);
}

export const providerOperations: Readonly<Record<string, Operation>> = {
  'provider list': (context) =>
    Promise.all(
      providerIds.map((id) => presentProvider(context.directory, context.providerDescriptions[id], id)),
    ),
  'provider check': checkOperation,
  'provider prove': proveOperation,
  'provider watch': watchOperation,
  'provider set': async (context, args) => {
    const provider = argument.requiredProvider(args, 'provider');
    await changeProvider(context, provider, argument.providerSettings(args), operatorActor);
    return presentProvider(context.directory, context.providerDescriptions[provider], provider);
  },
};
