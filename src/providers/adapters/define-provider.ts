import type { KeyObject } from 'node:crypto';
import type { Address } from '../../payment/address.ts';
import {
  NATIVE_USDC,
  nameOfToken,
  type PaymentMeans,
  type ProviderId,
  providerCatalog,
} from '../../payment/provider-catalog.ts';
import type { EgressProxy } from '../../platform/egress-proxy.ts';
import type {
  CatalogEntry,
  PostedWebhook,
  ProviderAdapter,
  ProviderTraits,
  ProviderWebhook,
  Quote,
  QuoteRequest,
  SessionRequest,
  StartedSession,
} from '../provider.ts';
import type { ProviderEndpoint } from '../provider-evidence.ts';
import {
  asProviderUnavailable,
  type Call,
  classifyWebhookError,
  createConversations,
  MalformedAnswerError,
  recordAnswers,
  requireRegion,
  requireServed,
} from './provider-http.ts';
import { type ProviderVariable, SANDBOX_ENVIRONMENT } from './provider-variables.ts';

export interface AdapterSettings {
  /** Time limit for all calls of one session or catalog. Quotes and webhooks also have limits of their own. */
  readonly timeoutMs: number;
  readonly nowMs: () => number;
  readonly monotonicMs?: () => number;
  readonly webhookUrl: string;
  /** Contract of native USDC on the service's chain. */
  readonly usdc?: Address;
  /** Receives warnings about problems that do not prevent a session from starting. */
  readonly warn?: (message: string) => void;
  /** Public URL of this service, without a trailing slash. */
  readonly baseUrl: string;
  /** Proxy for calls to the provider; null or absent for direct connections. */
  readonly proxy?: EgressProxy | null;
}

export type ProviderValues = Readonly<Record<string, string>>;

export function variableNameOf(provider: ProviderId, name: string): string {
  return `${provider.toUpperCase()}_${name}`;
}

/** Error for an unusable setting. The message contains the variable's name, never its value. */
export class ProviderSettingError extends Error {}

interface ProviderHost {
  readonly production: string;
  readonly sandbox?: string;
}

interface AccountSettings<Host extends string = string> extends AdapterSettings {
  /** Provider that customers choose. For a payment method such as PayPal, it differs from the definition's id. */
  readonly id: ProviderId;
  /** Returns the provider's name for the requested means, or for its default means. */
  methodOf(request: Pick<QuoteRequest, 'means'>): string;
  readonly isSandbox: boolean;
  /** Whether calls go to the provider's production hosts, not to a test environment, a simulator or a proxy. */
  readonly isProduction: boolean;
  readonly apiKey: string;
  /** Value of the variable that authenticates webhooks, or ''. */
  readonly webhookSecret: string;
  /** Base URLs of the definition's hosts, without a trailing slash. If BASE_URL is set, they are paths below it. */
  readonly urls: Readonly<Record<Host, string>>;
  /** Returns the contract, or null if it is not text. Throws if it is not USDC's, except in the test environment. */
  readUsdcContract(contract: unknown): string | null;
  /** Throws `ProviderSettingError` if the variable is missing. */
  value(name: string): string;
  valueOrNull(name: string): string | null;
  /** Throws `ProviderSettingError` if the variable is missing or invalid. */
  key(name: string, read: (text: string) => KeyObject | null): KeyObject;
  /** Returns null if the variable is missing. Throws `ProviderSettingError` if it is invalid. */
  keyOrNull(name: string, read: (text: string) => KeyObject | null): KeyObject | null;
}

/** Facts that an adapter uses without an official source. docs/providers.md lists them and the official sources. */
export interface Facts {
  /** Facts seen only in other companies' public integrations. */
  readonly inferred: readonly string[];
  readonly unknown: readonly string[];
}

type WithDefaults<Answer, Name extends keyof Answer> = Pick<Answer, Name> & Partial<Answer>;

type MeansNames = Readonly<Partial<Record<PaymentMeans, string>>>;

interface ProviderDefinition<Host extends string, Own extends object, Account = AccountSettings<Host> & Own> {
  readonly id: ProviderId;
  readonly hosts: Readonly<Record<Host, ProviderHost>>;
  readonly variables: readonly ProviderVariable[];
  readonly facts: Facts;
  /** The provider's names for payment means, the default first. Absent if its API has no parameter for them. */
  readonly means?: MeansNames;
  /** Whether fees are part of the requested amount or added to it. If added, a quote must state the charge. */
  readonly fees: 'included' | 'on_top';
  readonly traits?: ProviderTraits;
  /** Set if sessions include quotes, or if the provider has no quotes. Otherwise, a quote precedes each session. */
  readonly quotesInSession?: true;
  /** Derives values from the settings. Throws `ProviderSettingError` for an unusable setting. */
  account?(settings: AccountSettings<Host>): Own;
  headers?(account: Account): Readonly<Record<string, string>>;
  quote(account: Account, request: QuoteRequest, call: Call): Promise<WithDefaults<Quote, 'deliveryUnits'>>;
  /** Starts a session. Omitted values default to the quote, the payment's id as reference, and `LINK_LIFETIME_MS`. */
  startSession(
    account: Account,
    request: SessionRequest,
    call: Call,
  ): Promise<WithDefaults<StartedSession, 'redirectUrl'>>;
  /** Returns why the account cannot be used, or null if it can. */
  blockedBecause?(account: Account): string | null;
  readCatalog?(account: Account, request: QuoteRequest, call: Call): Promise<CatalogEntry>;
  /** Reads a webhook; absent if the provider sends none. Not called while a webhook secret is required but not set. */
  readWebhook?(
    account: Account,
    webhook: PostedWebhook,
    call: Call,
  ): Promise<WithDefaults<ProviderWebhook, 'paymentId' | 'progress' | 'atMs'> | null>;
}

export interface Provider {
  readonly id: ProviderId;
  readonly variables: readonly ProviderVariable[];
  readonly facts: Facts;
  /** Providers that offer this payment method; empty for a provider that sells directly. */
  readonly routes: readonly ProviderId[];
  open(values: ProviderValues, settings: AdapterSettings, method?: PaymentMethod): ProviderAdapter;
}

interface PaymentMethod {
  readonly id: ProviderId & PaymentMeans;
  readonly name: string;
  readonly traits: ProviderTraits;
}

/** Time limit of a quote, shorter than a session's, because a page or an API call waits for it. */
const QUOTE_TIMEOUT_MS = 2_000;
/** Lifetime of a session's URL if the provider states no expiry. */
const LINK_LIFETIME_MS = 60 * 60_000;
/** Time limit for webhooks, below the five seconds that providers wait. A few late responses may end all webhooks. */
const WEBHOOK_TIMEOUT_MS = 4_000;

export function defineProvider<Host extends string, Own extends object = object>(
  definition: ProviderDefinition<Host, Own>,
): Provider {
  const { id, variables, facts } = definition;
  return {
    id,
    variables,
    facts,
    routes: [],
    open: (values, settings, method) => openAdapter(definition, values, settings, method),
  };
}

/** Creates an adapter with time limits. Every failure except a `ServiceError` becomes `provider_unavailable`. */
function openAdapter<Host extends string, Own extends object>(
  definition: ProviderDefinition<Host, Own>,
  values: ProviderValues,
  settings: AdapterSettings,
  method: PaymentMethod | undefined,
): ProviderAdapter {
  const { readCatalog, readWebhook, variables } = definition;
  const id = method?.id ?? definition.id;
  const isRouted = id !== definition.id;
  const traits = { ...definition.traits, ...method?.traits };
  const means = method === undefined ? (definition.means ?? {}) : { [method.id]: method.name };
  const own = settingsOf(definition, values, { ...settings, id, means });
  const account = { ...own, ...(definition.account?.(own) as Own) };
  const blockedBecause = definition.blockedBecause?.(account) ?? null;
  const converse = createConversations(id, definition.headers?.(account), settings.proxy);
  const bounded = (timeoutMs: number) => Math.min(settings.timeoutMs, timeoutMs);
  const attempt = <T>(timeoutMs: number, work: (call: Call) => Promise<T>) =>
    asProviderUnavailable(id, converse(timeoutMs, work));
  async function quote(request: QuoteRequest, call: Call): Promise<Quote> {
    requireServed(id, request, traits);
    const { amountCents } = request;
    const chargedCents = definition.fees === 'included' ? amountCents : 0;
    const asked = await definition.quote(account, request, call);
    return requirePlausible({ chargedCents, minimumUsdCents: null, ...asked }, request);
  }
  async function startSession(request: SessionRequest, call: Call): Promise<StartedSession> {
    requireServed(id, request, traits);
    if (traits.needsIp && !request.customerIp)
      settings.warn?.(
        `${providerCatalog[id].name} session without the IP address of the customer, which it requires: check TRUST_PROXY, unless it was of provider check without --ip, or of a rehearsal`,
      );
    const quoted = definition.quotesInSession ? null : await quote(request, call);
    const session = await definition.startSession(account, request, call);
    const defaults = {
      providerReference: request.paymentId,
      expiresAtMs: settings.nowMs() + LINK_LIFETIME_MS,
      quotedUnits: quoted?.deliveryUnits ?? null,
      chargedCents: quoted?.chargedCents ?? request.amountCents,
    };
    return requirePlausible({ ...defaults, ...session }, request);
  }
  return {
    id,
    endpoint: endpointOf(own),
    ...traits,
    ...(isRouted ? { routedThrough: definition.id } : {}),
    ...(blockedBecause === null ? {} : { blockedBecause }),
    recordAnswers,
    quote: (request) => attempt(bounded(QUOTE_TIMEOUT_MS), (call) => quote(request, call)),
    startSession: (request) => attempt(settings.timeoutMs, (call) => startSession(request, call)),
    ...(readCatalog === undefined
      ? {}
      : {
          readCatalog: (request: QuoteRequest) =>
            attempt(settings.timeoutMs, async (call) => {
              requireRegion(id, request, traits);
              const entry = await readCatalog(account, request, call);
              requireRegion(id, request, entry);
              return entry;
            }),
        }),
    // Webhooks of a payment method go to the URL of the provider that runs its sessions.
    ...(readWebhook === undefined || isRouted || (secretOf(variables) !== null && own.webhookSecret === '')
      ? {}
      : {
          readWebhook: (webhook: PostedWebhook) =>
            classifyWebhookError(
              id,
              converse(bounded(WEBHOOK_TIMEOUT_MS), async (call) => {
                const read = await readWebhook(account, webhook, call);
                return read === null ? null : { providerReference: null, walletAddress: null, ...read };
              }),
            ),
        }),
  };
}

/** Returns the quote. Throws `MalformedAnswerError` if its charge is below half or above twice the amount. */
function requirePlausible<Quoted extends Pick<Quote, 'chargedCents'>>(
  quoted: Quoted,
  { amountCents }: QuoteRequest,
): Quoted {
  const { chargedCents } = quoted;
  if (chargedCents * 2 >= amountCents && chargedCents <= amountCents * 2) return quoted;
  throw new MalformedAnswerError(`a charge of ${chargedCents} for ${amountCents} cents is implausible`);
}

function secretOf(variables: readonly ProviderVariable[]): string | null {
  return variables.find(({ isForWebhooks }) => isForWebhooks === true)?.name ?? null;
}

function endpointOf({ urls, isProduction, valueOrNull }: AccountSettings): ProviderEndpoint {
  const parsed = Object.values(urls).map((url) => new URL(url));
  return {
    environment: isProduction ? 'production' : valueOrNull('BASE_URL') === null ? 'test' : 'simulated',
    urls: [...new Set(parsed.map(({ origin, pathname }) => `${origin}${pathname.replace(/\/$/, '')}`))],
  };
}

/** Defines a provider that exists only as a payment method of other providers. */
export function definePaymentMethod(definition: {
  readonly id: PaymentMethod['id'];
  readonly variables: readonly ProviderVariable[];
  readonly facts: Facts;
  readonly routes: readonly Provider[];
  nameAt(route: ProviderId, values: ProviderValues): string | undefined;
  readonly traitsAt?: Readonly<Partial<Record<ProviderId, PaymentMethod['traits']>>>;
}): Provider {
  const { id, variables, facts, routes } = definition;
  return {
    id,
    facts,
    variables,
    routes: routes.map((route) => route.id),
    open(values, settings) {
      const route = routes.find((each) => each.id === values['ROUTE']);
      if (route === undefined)
        throw new ProviderSettingError(
          `${variableNameOf(id, 'ROUTE')} names no provider that it can go through.`,
        );
      const name = definition.nameAt(route.id, values);
      if (name === undefined)
        throw new ProviderSettingError(`${variableNameOf(id, 'PAYMENT_METHOD')} is missing.`);
      return route.open(values, settings, { id, name, traits: definition.traitsAt?.[route.id] ?? {} });
    },
  };
}

function settingsOf<Host extends string>(
  { hosts, variables }: Pick<ProviderDefinition<Host, object>, 'hosts' | 'variables'>,
  values: ProviderValues,
  settings: AdapterSettings & Pick<AccountSettings, 'id'> & { readonly means: MeansNames },
): AccountSettings<Host> {
  const isSandbox = values['ENVIRONMENT'] === SANDBOX_ENVIRONMENT;
  const nameOf = (name: string) => variableNameOf(settings.id, name);
  const valueOrNull = (name: string) => values[name] ?? null;
  const root = valueOrNull('BASE_URL');
  const value = (name: string) => {
    const given = valueOrNull(name);
    if (given === null) throw new ProviderSettingError(`${nameOf(name)} is missing.`);
    return given;
  };
  const key = (name: string, read: (text: string) => KeyObject | null) => {
    const given = read(value(name));
    if (given === null) throw new ProviderSettingError(`${nameOf(name)} is no key of the right kind.`);
    return given;
  };
  const urls = Object.entries<ProviderHost>(hosts).map(([name, { production, sandbox = production }]) => [
    name,
    root !== null ? `${root}/${name}` : isSandbox ? sandbox : production,
  ]);
  return {
    ...settings,
    methodOf({ means: asked }) {
      const name = asked ? settings.means[asked] : Object.values(settings.means)[0];
      if (name === undefined) throw new TypeError(`there is no name for ${asked} at ${settings.id}`);
      return name;
    },
    isSandbox,
    isProduction: !isSandbox && root === null,
    apiKey: value('API_KEY'),
    webhookSecret: valueOrNull(secretOf(variables) ?? '') ?? '',
    urls: Object.fromEntries(urls),
    readUsdcContract(contract) {
      if (typeof contract !== 'string') return null;
      if (isSandbox || contract.toLowerCase() === (settings.usdc ?? NATIVE_USDC).toLowerCase())
        return contract;
      throw new MalformedAnswerError(`${settings.id} delivers ${nameOfToken(contract)}, not USDC`);
    },
    valueOrNull,
    value,
    key,
    keyOrNull: (name, read) => (valueOrNull(name) === null ? null : key(name, read)),
  };
}
