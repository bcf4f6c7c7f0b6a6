import { Secret, TOTP } from 'otpauth';
import { relyingPartyOf, type User } from '../../src/accounts/person.ts';
import { dashboardFeatures } from '../../src/app/features.ts';
import type { OperatorContext } from '../../src/pages/operator/operator-page.ts';
import { refuseForeignHosts, registerOperatorConsole } from '../../src/pages/operator/routes.ts';
import { registerViewedDashboard } from '../../src/pages/operator/viewing-pages.ts';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import { providerDescriptions } from '../../src/providers/adapters/providers.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';
import type { EvidenceStore, ProviderEvidence } from '../../src/providers/provider-evidence.ts';
import { estimateSuccess, type VisitOutcome } from '../../src/providers/provider-success.ts';
import {
  ChainUnavailableError,
  type ChainView,
  type EndpointHealth,
} from '../../src/settlement/chain/chain.ts';
import type { BlockReference } from '../../src/settlement/settlement-store.ts';
import { createBaseServer } from '../../src/web/server.ts';
import { createDashboardLimits } from '../../src/web/signed-in/sign-in-limits.ts';
import {
  createTestBrowser,
  createTestDashboard,
  recordRoutes,
  signInTo,
  type TestDashboard,
} from './dashboard.ts';
import { createWorld, RESERVED_ADDRESS } from './payment-context.ts';

export type TestConsole = Awaited<ReturnType<typeof createTestConsole>>;

/** The outside world of a console, under a test's control. */
interface Outside {
  readonly adapters: Map<ProviderId, ProviderAdapter>;
  /** As in live mode: a provider is off until it is switched on. */
  isOffByDefault: boolean;
  /** How visits to providers ended, the newest first. */
  readonly visits: VisitOutcome[];
  /** Null when no endpoint answers. */
  heads: { readonly latest: BlockReference; readonly final: BlockReference | null } | null;
  /** Null when no endpoint answers. */
  gasBalanceWei: bigint | null;
  signerFailure: string | null;
  endpoints: readonly EndpointHealth[];
  /** What was asked to be rescued. */
  readonly rescued: string[];
}

interface ConsoleOptions {
  readonly baseUrl?: string;
  /** As in the sandbox: a password is enough. */
  readonly isTestMode?: boolean;
  readonly isTrustedPeer?: (address: string) => boolean;
  /** Whether email is configured. */
  readonly hasMail?: boolean;
  /** At the port of `baseUrl`, for a real browser. */
  readonly listens?: boolean;
}

/** The operator's console as production builds it, beside the merchants' dashboard with the same store. */
export async function createTestConsole({
  baseUrl = 'http://localhost:3001',
  isTestMode = true,
  isTrustedPeer = () => true,
  hasMail = true,
  listens = false,
}: ConsoleOptions = {}) {
  const dashboard = await createTestDashboard();
  const server = createBaseServer({ trustProxy: [] });
  const routes = recordRoutes(server);
  const outside: Outside = {
    adapters: new Map(createWorld().adapters),
    isOffByDefault: false,
    visits: [],
    heads: null,
    gasBalanceWei: 5n * 10n ** 18n,
    signerFailure: null,
    endpoints: [rpcEndpoint('rpc.example')],
    rescued: [],
  };
  const evidence = createEvidenceMemory();
  const limits = createDashboardLimits(() => dashboard.monotonicMs());
  const context: OperatorContext = {
    ...dashboard.context,
    ...(hasMail ? {} : { mailer: null }),
    ...contextOf(dashboard, outside, evidence),
    monotonicMs: dashboard.monotonicMs,
    limits,
    baseUrl,
    party: relyingPartyOf(dashboard.context.baseUrl, baseUrl),
    isTestMode,
    isTrustedPeer,
    publicUrl: 'https://pay.example.com',
  };
  refuseForeignHosts(server, baseUrl);
  registerOperatorConsole(server, context);
  const viewed = { ...dashboard.context, isTestMode };
  registerViewedDashboard(server, context, viewed, dashboardFeatures(dashboard.features));
  await (listens
    ? server.listen({ host: '127.0.0.1', port: Number(new URL(baseUrl).port) })
    : server.ready());
  const newBrowser = (address = '192.0.2.20') => createTestBrowser(server, baseUrl, address);
  return {
    dashboard,
    routes,
    outside,
    /** In memory. */
    evidence,
    limits,
    newBrowser,
    giveOperator: (change?: Partial<User>) => dashboard.giveUser(null, { isOperator: true, ...change }),
    giveAccount: dashboard.giveAccount,
    signIn: (operator: User) => signInTo(context, newBrowser(), operator, { area: 'operator' }),
    async close() {
      await server.close();
      await dashboard.close();
    },
  };
}

/** An endpoint that is well, unless a test says otherwise. */
export const rpcEndpoint = (label: string, health: Partial<EndpointHealth> = {}): EndpointHealth => ({
  label,
  isPaused: false,
  isSlow: false,
  isFailing: false,
  lagBlocks: 0,
  disagreements: 0,
  lastDisagreement: null,
  ...health,
});

function createEvidenceMemory(): EvidenceStore {
  const kept = new Map<ProviderId, ProviderEvidence>();
  return {
    readEvidence: async (provider) => kept.get(provider) ?? null,
    async writeEvidence(evidence) {
      kept.set(evidence.provider, evidence);
      return evidence.provider;
    },
    readShapes: async () => null,
    writeShapes: async () => {},
  };
}

/** What the console needs besides what the dashboard has. */
function contextOf(
  { store }: TestDashboard,
  outside: Outside,
  evidence: EvidenceStore,
): Pick<OperatorContext, 'directory' | 'providerDescriptions' | 'relay' | 'chain' | 'relayers' | 'rescue'> {
  const view = {
    async readLatest() {
      if (outside.heads === null) throw new ChainUnavailableError('no endpoint answers');
      return outside.heads.latest;
    },
    readFinal: async () => outside.heads?.final ?? null,
  };
  return {
    providerDescriptions,
    directory: {
      adapters: outside.adapters,
      settings: store.providers,
      evidence,
      success: () => estimateSuccess(outside.visits),
      get isOffByDefault() {
        return outside.isOffByDefault;
      },
    },
    relay: store.relay,
    chain: { withView: (use) => use(view as unknown as ChainView), listEndpoints: () => outside.endpoints },
    relayers: [
      {
        address: RESERVED_ADDRESS,
        async readGasBalance() {
          if (outside.gasBalanceWei === null) throw new ChainUnavailableError('no endpoint answers');
          return outside.gasBalanceWei;
        },
        signerFailure: () => outside.signerFailure,
        quoteFees: async () => ({ maxFeePerGas: 85n * 10n ** 9n, maxPriorityFeePerGas: 25n * 10n ** 9n }),
      },
    ],
    async rescue(id, token) {
      outside.rescued.push(`${id} ${token}`);
      return `0x${'ab'.repeat(32)}`;
    },
  };
}

/** What an authenticator app shows that was given this key. */
export function appCode(key: string, atMs: number): string {
  return new TOTP({ secret: Secret.fromBase32(key.replaceAll(' ', '')) }).generate({ timestamp: atMs });
}
