import type { KeyObject } from 'node:crypto';
import type { Address } from '../../payment/address.ts';
import { NATIVE_USDC, nameOfToken, type ProviderId } from '../../payment/provider-catalog.ts';
import { createTtlCache } from '../../platform/ttl-cache.ts';
import type {
  CatalogEntry,
  PostedWebhook,
  ProviderAdapter,
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
  requireServed,
} from './provider-http.ts';
import { type ProviderVariable, SANDBOX_ENVIRONMENT } from './provider-variables.ts';

export interface AdapterSettings {
  /** Time limit of all calls that start a session together; quotes are also limited to `QUOTE_TIMEOUT_MS`. */
  readonly timeoutMs: number;
  /** Lifetime of a cached quote; 0 requests one every time. */
  readonly quoteCacheMs?: number;
  readonly nowMs: () => number;
  readonly monotonicMs?: () => number;
  /** Our URL for this provider's webhooks. */
  readonly webhookUrl: string;
  /** USDC contract on the service's chain (native USDC on Polygon). */
  readonly usdc?: Address;
  /** Receives warnings about sessions that were started nevertheless. */
  readonly warn?: (message: string) => void;
  /** Public root of this service, without a trailing slash. */
  readonly baseUrl: string;
}

/** Settings of one provider by variable name. */
export type ProviderValues = Readonly<Record<string, string>>;

/** Environment variable of a provider's setting. */
export function variableNameOf(provider: ProviderId, name: string): string {
  return `${provider.toUpperCase()}_${name}`;
}

/** An unusable setting; the message contains the variable's name and never its value. */
export class ProviderSettingError extends Error {
  override readonly name = 'ProviderSettingError';
}

/** A host of the provider, and its test environment's if different. */
interface ProviderHost {
  readonly production: string;
  readonly sandbox?: string;
}

/** The operator's account at a provider. */
interface AccountSettings<Host extends string = string> extends AdapterSettings {
  /** The provider that customers choose, which differs from the definition's for a payment method. */
  readonly id: ProviderId;
  /** The payment method's name at the provider; null for a card. */
  readonly paymentMethod: string | null;
  readonly isSandbox: boolean;
  /** Calls go to the provider's production hosts rather than a simulator or proxy. */
  readonly isProduction: boolean;
  readonly apiKey: string;
  /** Value of the definition's `webhookSecret` variable, or ''. */
  readonly webhookSecret: string;
  /** Hosts of the definition, without a trailing slash; below BASE_URL where that is set. */
  readonly urls: Readonly<Record<Host, string>>;
  /**
   * The token's contract if the provider states it. Requires USDC, except in test environments, which deliver other
   * tokens.
   */
  readUsdcContract(contract: unknown): string | null;
  /** Throws `ProviderSettingError` for a missing one. */
  value(name: string): string;
  valueOrNull(name: string): string | null;
  /** Parses a key. Throws for a missing or invalid one. */
  key(name: string, read: (text: string) => KeyObject | null): KeyObject;
  /** Parses a key; null for a missing one. */
  keyOrNull(name: string, read: (text: string) => KeyObject | null): KeyObject | null;
}

/**
 * What an adapter relies on, by how it is known. Each entry has its source; the documentation and `provider list` show
 * them.
 */
export interface Facts {
  /** Facts from the provider's documentation. */
  readonly official: readonly string[];
  /** Facts from an official SDK or OpenAPI file, or compared with one by a test. */
  readonly sdk: readonly string[];
  /** Facts seen only in public third-party integrations. */
  readonly inferred: readonly string[];
  readonly unknown: readonly string[];
}

/** An answer whose other fields have defaults. */
type WithDefaults<Answer, Name extends keyof Answer> = Pick<Answer, Name> & Partial<Answer>;

/** Everything that is specific to one provider. */
interface ProviderDefinition<Host extends string, Own extends object, Account = AccountSettings<Host> & Own> {
  readonly id: ProviderId;
  readonly hosts: Readonly<Record<Host, ProviderHost>>;
  /** Settings, in the order of the documentation. */
  readonly variables: readonly ProviderVariable[];
  readonly facts: Facts;
  /** Whether fees are taken out of the requested amount, or charged on top, where a quote has to state the charge. */
  readonly fees: 'included' | 'on_top';
  readonly traits?: Pick<ProviderAdapter, 'opensOnce' | 'needsCountry' | 'checksReferrer' | 'currenciesSold'>;
  /** Sessions include quotes, or none exist; otherwise a session is quoted first. */
  readonly quotesInSession?: true;
  /** Values derived from the settings. Throws `ProviderSettingError`. */
  account?(settings: AccountSettings<Host>): Own;
  headers?(account: Account): Readonly<Record<string, string>>;
  quote(account: Account, request: QuoteRequest, call: Call): Promise<WithDefaults<Quote, 'deliveryUnits'>>;
  /** Defaults: the payment's id as reference, and `LINK_LIFETIME_MS`. */
  startSession(
    account: Account,
    request: SessionRequest,
    call: Call,
  ): Promise<WithDefaults<StartedSession, 'redirectUrl'>>;
  /** Why the account cannot be used; null if it can. */
  blockedBecause?(account: Account): string | null;
  readCatalog?(account: Account, request: QuoteRequest, call: Call): Promise<CatalogEntry>;
  /** Absent without webhooks. Only called with a webhook secret, if the provider has one. */
  readWebhook?(
    account: Account,
    webhook: PostedWebhook,
    call: Call,
  ): Promise<WithDefaults<ProviderWebhook, 'paymentId' | 'progress' | 'atMs'> | null>;
}

/** A provider as used by the rest of the service. */
export interface Provider {
  readonly id: ProviderId;
  readonly variables: readonly ProviderVariable[];
  readonly facts: Facts;
  /** Providers that offer it as a payment method; empty for one that sells by itself. */
  readonly routes: readonly ProviderId[];
  /** Creates the adapter of an account. Throws `ProviderSettingError`. */
  open(values: ProviderValues, settings: AdapterSettings, method?: PaymentMethod): ProviderAdapter;
}

/** A payment method at another provider, with its name there. */
interface PaymentMethod {
  readonly id: ProviderId;
  readonly name: string;
  /** Traits that differ from those of the route's provider. */
  readonly traits: Pick<ProviderAdapter, 'currenciesSold' | 'onlyCurrency' | 'countriesServed'>;
}

/** Stricter than for sessions, because a page or an API call waits for quotes. */
const QUOTE_TIMEOUT_MS = 2_000;
/** Lifetime of a session's URL if the provider states none. */
const LINK_LIFETIME_MS = 60 * 60_000;
const QUOTE_CACHE_MS = 3_000;
const MAXIMUM_CACHED_QUOTES = 500;
/** Providers wait five seconds for our answer to a webhook, and some stop sending after a few late ones. */
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

/**
 * Creates the adapter of an account: bounds the time of its calls, caches quotes briefly, and turns every failure other
 * than a refusal into `provider_unavailable` with its cause.
 */
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
  const own = settingsOf(definition, values, { ...settings, id, paymentMethod: method?.name ?? null });
  const account = { ...own, ...(definition.account?.(own) as Own) };
  const blockedBecause = definition.blockedBecause?.(account) ?? null;
  const quotes = createTtlCache<Quote>({
    monotonicMs: settings.monotonicMs ?? (() => performance.now()),
    keepMs: settings.quoteCacheMs ?? QUOTE_CACHE_MS,
    maximumEntries: MAXIMUM_CACHED_QUOTES,
  });
  const converse = createConversations(id, definition.headers?.(account));
  const bounded = (timeoutMs: number) => Math.min(settings.timeoutMs, timeoutMs);
  const attempt = <T>(timeoutMs: number, work: (call: Call) => Promise<T>) =>
    asProviderUnavailable(id, converse(timeoutMs, work));
  async function quote(request: QuoteRequest, call: Call): Promise<Quote> {
    requireServed(id, request, traits);
    const { amountCents } = request;
    const chargedCents = definition.fees === 'included' ? amountCents : 0;
    const asked = await definition.quote(account, request, call);
    const quoted = { chargedCents, minimumUsdCents: null, ...asked };
    if (quoted.chargedCents * 2 < amountCents || quoted.chargedCents > amountCents * 2)
      throw new MalformedAnswerError(
        `a charge of ${quoted.chargedCents} for ${amountCents} cents is implausible`,
      );
    return quoted;
  }
  async function startSession(request: SessionRequest, call: Call): Promise<StartedSession> {
    requireServed(id, request, traits);
    const quotedUnits = definition.quotesInSession ? null : (await quote(request, call)).deliveryUnits;
    const session = await definition.startSession(account, request, call);
    const expiresAtMs = settings.nowMs() + LINK_LIFETIME_MS;
    return { providerReference: request.paymentId, expiresAtMs, quotedUnits, ...session };
  }
  return {
    id,
    endpoint: endpointOf(own),
    ...traits,
    ...(isRouted ? { routedThrough: definition.id } : {}),
    ...(blockedBecause === null ? {} : { blockedBecause }),
    recordAnswers,
    quote: async (request) =>
      quotes.fetchOrReuse(quoteKeyOf(request), () =>
        attempt(bounded(QUOTE_TIMEOUT_MS), (call) => quote(request, call)),
      ),
    cachedQuote: (request) => quotes.findFetch(quoteKeyOf(request)),
    startSession: (request) => attempt(settings.timeoutMs, (call) => startSession(request, call)),
    ...(readCatalog === undefined
      ? {}
      : {
          readCatalog: (request: QuoteRequest) =>
            attempt(settings.timeoutMs, (call) => readCatalog(account, request, call)),
        }),
    // Webhooks of a payment method go to the URL of the provider that runs it.
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

function quoteKeyOf({ amountCents, currency, usdUnits, customerCountry }: QuoteRequest): string {
  return `${amountCents} ${currency} ${usdUnits} ${customerCountry ?? ''}`;
}

/** Name of the variable that authenticates webhooks; null if there is none. */
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

/** Creates a provider that is only a payment method at others. */
export function definePaymentMethod(definition: {
  readonly id: ProviderId;
  readonly variables: readonly ProviderVariable[];
  readonly facts: Facts;
  readonly routes: readonly Provider[];
  /** The method's name at the route's provider; undefined where it is unknown. */
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
  settings: AdapterSettings & Pick<AccountSettings, 'id' | 'paymentMethod'>,
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
