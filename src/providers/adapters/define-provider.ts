import type { KeyObject } from 'node:crypto';
import type { Address } from '../../payment/payout-address.ts';
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
  requireSold,
} from './provider-http.ts';
import { type ProviderVariable, SANDBOX_ENVIRONMENT } from './provider-variables.ts';

/** Settings of all adapters, whatever their protocol. */
export interface AdapterSettings {
  /** Time limit of all calls that start a session together; a quote is also bounded by two seconds. */
  readonly timeoutMs: number;
  /** Time for which a quote is reused; 0 requests one every time. */
  readonly quoteCacheMs?: number;
  readonly nowMs: () => number;
  readonly monotonicMs?: () => number;
  /** The address at which this provider reaches us with its webhooks. */
  readonly webhookUrl: string;
  /** The contract of USDC on the chain of the service (native USDC on Polygon). */
  readonly usdc?: Address;
  /** Receives what an operator should know about a session that was started nevertheless. */
  readonly warn?: (message: string) => void;
  /** The public root of this service, without a slash at its end. */
  readonly baseUrl: string;
}

/** Settings of one provider by the names in its list of variables. */
export type ProviderValues = Readonly<Record<string, string>>;

/** The environment variable of a provider's setting. */
export function variableNameOf(provider: ProviderId, name: string): string {
  return `${provider.toUpperCase()}_${name}`;
}

/** A setting that is there but cannot be used; the message names the variable and never repeats its value. */
export class ProviderSettingError extends Error {
  override readonly name = 'ProviderSettingError';
}

/** A host of the provider, and that of its test environment where it has another one. */
interface ProviderHost {
  readonly production: string;
  readonly sandbox?: string;
}

/** The operator's account at a provider: its settings, and the readers of further ones. */
interface AccountSettings<Host extends string = string> extends AdapterSettings {
  /** The provider that customers choose: another one than the definition's where this is a payment method there. */
  readonly id: ProviderId;
  /** The name of that payment method at the provider; null for a card. */
  readonly paymentMethod: string | null;
  readonly isSandbox: boolean;
  /** The provider's production hosts are called, and no simulator or proxy. */
  readonly isProduction: boolean;
  readonly apiKey: string;
  /** The value of the definition's `webhookSecret` variable; '' where none is set. */
  readonly webhookSecret: string;
  /** The hosts of the definition, without a slash at their end: below BASE_URL where that is set. */
  readonly urls: Readonly<Record<Host, string>>;
  /** The token's contract where the provider names it: it must be USDC's; test environments deliver other tokens. */
  readUsdcContract(contract: unknown): string | null;
  /** Throws `ProviderSettingError` where it is missing. */
  value(name: string): string;
  valueOrNull(name: string): string | null;
  /** A key as it is read from its text. Throws for what is missing or cannot be read. */
  key(name: string, read: (text: string) => KeyObject | null): KeyObject;
  /** The same; null where none is set. */
  keyOrNull(name: string, read: (text: string) => KeyObject | null): KeyObject | null;
}

/**
 * What an adapter relies on, by how it is known. Each entry names its source; the documentation and `provider list` show
 * them.
 */
export interface Facts {
  /** Read in the provider's own documentation. */
  readonly official: readonly string[];
  /** Read in an official SDK or OpenAPI file, or compared with one by a test. */
  readonly sdk: readonly string[];
  /** Seen in public integrations of others only. */
  readonly inferred: readonly string[];
  readonly unknown: readonly string[];
}

/** An answer of which the fields that are not named have defaults. */
type WithDefaults<Answer, Name extends keyof Answer> = Pick<Answer, Name> & Partial<Answer>;

/** Everything that is specific to one provider. */
interface ProviderDefinition<Host extends string, Own extends object, Account = AccountSettings<Host> & Own> {
  readonly id: ProviderId;
  readonly hosts: Readonly<Record<Host, ProviderHost>>;
  /** In the order of the documentation. */
  readonly variables: readonly ProviderVariable[];
  readonly facts: Facts;
  readonly traits?: Pick<ProviderAdapter, 'opensOnce' | 'needsCountry' | 'checksReferrer' | 'currenciesSold'>;
  /** Its sessions have their own quotes, or none exist: elsewhere a session promises nothing, and is quoted first. */
  readonly quotesInSession?: true;
  /** What the calls need of the account besides its settings. Throws `ProviderSettingError`. */
  account?(settings: AccountSettings<Host>): Own;
  /** Headers of every call. */
  headers?(account: Account): Readonly<Record<string, string>>;
  quote(account: Account, request: QuoteRequest, call: Call): Promise<WithDefaults<Quote, 'deliveryUnits'>>;
  /** Its reference is the payment's id, and the lifetime of its address an hour, where the provider names none. */
  startSession(
    account: Account,
    request: SessionRequest,
    call: Call,
  ): Promise<WithDefaults<StartedSession, 'redirectUrl'>>;
  /** Why the account cannot be used; null where nothing speaks against it. */
  blockedBecause?(account: Account): string | null;
  readCatalog?(account: Account, request: QuoteRequest, call: Call): Promise<CatalogEntry>;
  /** Absent where the provider sends none. Called only where the secret of webhooks is set, if there is one. */
  readWebhook?(
    account: Account,
    webhook: PostedWebhook,
    call: Call,
  ): Promise<WithDefaults<ProviderWebhook, 'paymentId' | 'progress' | 'atMs'> | null>;
}

/** A provider as the rest of the service uses it. */
export interface Provider {
  readonly id: ProviderId;
  readonly variables: readonly ProviderVariable[];
  readonly facts: Facts;
  /** The providers at which it is a payment method; empty for one that sells by itself. */
  readonly routes: readonly ProviderId[];
  /** The adapter of an account. Throws `ProviderSettingError`. */
  open(values: ProviderValues, settings: AdapterSettings, method?: PaymentMethod): ProviderAdapter;
}

/** A provider that is a payment method at another one, and the method's name there. */
interface PaymentMethod {
  readonly id: ProviderId;
  readonly name: string;
}

/** A page or an API call waits for quotes, so they are bounded harder than sessions. */
const QUOTE_TIMEOUT_MS = 2_000;
/** Lifetime of a session's address where the provider names none. */
const LINK_LIFETIME_MS = 60 * 60_000;
const QUOTE_CACHE_MS = 3_000;
/** Expired quotes serve while the provider is busy: this is the longest time for which a 429 keeps us from asking again. */
const EXPIRED_QUOTE_CACHE_MS = 60_000;
const MAXIMUM_CACHED_QUOTES = 500;
/** Providers wait five seconds for our answer to a webhook, and some send no more after a few that came too late. */
const WEBHOOK_TIMEOUT_MS = 4_000;

/** Makes a provider of its definition. */
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
 * The adapter of an account: bounds the time of its calls, keeps its quotes for a moment, and turns whatever is neither an
 * answer nor a refusal into `provider_unavailable` with its cause.
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
  const own = settingsOf(definition, values, { ...settings, id, paymentMethod: method?.name ?? null });
  const account = { ...own, ...(definition.account?.(own) as Own) };
  const blockedBecause = definition.blockedBecause?.(account) ?? null;
  const quotes = createTtlCache<Quote>({
    monotonicMs: settings.monotonicMs ?? (() => performance.now()),
    keepMs: settings.quoteCacheMs ?? QUOTE_CACHE_MS,
    keepExpiredMs: EXPIRED_QUOTE_CACHE_MS,
    maximumEntries: MAXIMUM_CACHED_QUOTES,
  });
  const converse = createConversations(id, definition.headers?.(account));
  const bounded = (timeoutMs: number) => Math.min(settings.timeoutMs, timeoutMs);
  const attempt = <T>(timeoutMs: number, work: (call: Call) => Promise<T>) =>
    asProviderUnavailable(id, converse(timeoutMs, work));
  async function quote(request: QuoteRequest, call: Call): Promise<Quote> {
    requireSold(id, request, definition.traits?.currenciesSold);
    return { minimumUsdCents: null, ...(await definition.quote(account, request, call)) };
  }
  async function startSession(request: SessionRequest, call: Call): Promise<StartedSession> {
    requireSold(id, request, definition.traits?.currenciesSold);
    const quotedUnits = definition.quotesInSession ? null : (await quote(request, call)).deliveryUnits;
    const session = await definition.startSession(account, request, call);
    const expiresAtMs = settings.nowMs() + LINK_LIFETIME_MS;
    return { providerReference: request.paymentId, expiresAtMs, quotedUnits, ...session };
  }
  return {
    id,
    endpoint: endpointOf(own),
    ...definition.traits,
    ...(isRouted ? { routedThrough: definition.id } : {}),
    ...(blockedBecause === null ? {} : { blockedBecause }),
    recordAnswers,
    quote: async (request) =>
      quotes.fetchOrReuse(quoteKeyOf(request), () =>
        attempt(bounded(QUOTE_TIMEOUT_MS), (call) => quote(request, call)),
      ),
    cachedQuotes: {
      fresh: (request) => quotes.findFetch(quoteKeyOf(request)),
      expired: (request) => quotes.peekExpired(quoteKeyOf(request)),
    },
    startSession: (request) => attempt(settings.timeoutMs, (call) => startSession(request, call)),
    ...(readCatalog === undefined
      ? {}
      : {
          readCatalog: (request: QuoteRequest) =>
            attempt(settings.timeoutMs, (call) => readCatalog(account, request, call)),
        }),
    // The webhooks of a payment method come to the address of the provider that runs it.
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

/** The name of the variable that authenticates webhooks; null where the provider has none. */
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

/** Makes a provider that sells nothing itself, but is a payment method at others. */
export function definePaymentMethod(definition: {
  readonly id: ProviderId;
  readonly variables: readonly ProviderVariable[];
  readonly facts: Facts;
  readonly routes: readonly Provider[];
  /** The method's name at the provider of the route; undefined where it is not known. */
  nameAt(route: ProviderId, values: ProviderValues): string | undefined;
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
      return route.open(values, settings, { id, name });
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
