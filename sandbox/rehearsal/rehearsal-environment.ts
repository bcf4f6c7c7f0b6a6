import { ConfigError, readConfig } from '../../src/config/config.ts';
import type { Address } from '../../src/payment/address.ts';
import { type ProviderId, providerCatalog, providerIds } from '../../src/payment/provider-catalog.ts';
import { type ProviderValues, variableNameOf } from '../../src/providers/adapters/define-provider.ts';
import { providers } from '../../src/providers/adapters/providers.ts';

export interface RehearsalPlaces {
  readonly dataDir: string;
  readonly port: number;
  readonly adminPort: number;
  readonly chainId: number;
  /** URLs of the local chain on two hosts, because two endpoints must agree. */
  readonly rpcUrls: readonly string[];
  readonly usdc: Address;
  readonly factory: Address;
  /** `host:port` of the local webhook receiver. */
  readonly receiverHost: string;
  /** PEM file with the operator's additional certificate authorities and the receiver's certificate. */
  readonly authoritiesFile: string;
  /** Base URL of the simulated providers: `moonpay` is at `{onrampBaseUrl}/moonpay`, and so on. */
  readonly onrampBaseUrl: string;
}

/** Replaced variables other than the providers' URLs, with a description of what replaces them. */
const groups: readonly (readonly [names: string, what: string])[] = [
  ['HOST PORT ADMIN_HOST ADMIN_PORT TLS_CERT_FILE TLS_KEY_FILE', 'free ports of this machine, without TLS'],
  ['DATA_DIR DATABASE_URL', 'an empty temporary data folder with SQLite'],
  ['SMTP_URL MAIL_FROM', 'no mail'],
  ['RELAYER_SIGNER_URL RELAYER_ADDRESS', 'a made-up RELAYER_PRIVATE_KEY in place of a signer'],
  [
    'CHAIN_ID POLYGON_RPC_URL SETTLEMENT_TOKEN_ADDRESS DEPOSIT_FACTORY_ADDRESS MULTICALL3_ADDRESS',
    'a local chain',
  ],
  ['CALLBACK_ALLOWED_HOSTS NODE_EXTRA_CA_CERTS', 'a local webhook receiver besides yours'],
  ['LOG_LEVEL', 'info'],
];
const replacedNames = new Set(groups.flatMap(([names]) => names.split(' ')));

/** Provider that is simulated if the operator has configured none that accepts US dollars. */
const STAND_IN: ProviderId = 'moonpay';

/** Returns the values of the variables that a rehearsal replaces. Other variables keep the operator's values. */
export function replacementsOf(
  own: NodeJS.ProcessEnv,
  places: RehearsalPlaces,
  standIn: ProviderValues,
): Readonly<Record<string, string>> {
  const { onrampBaseUrl, port, adminPort } = places;
  const configured = configuredProviders(own);
  return {
    ...Object.fromEntries([...replacedNames].map((name) => [name, ''])),
    ...(isSet(own, 'RELAYER_SIGNER_URL') ? { RELAYER_PRIVATE_KEY: `0x${'5'.repeat(64)}` } : {}),
    HOST: '127.0.0.1',
    PORT: String(port),
    ADMIN_HOST: '127.0.0.1',
    ADMIN_PORT: String(adminPort),
    DATA_DIR: places.dataDir,
    LOG_LEVEL: 'info',
    CHAIN_ID: String(places.chainId),
    POLYGON_RPC_URL: places.rpcUrls.join(','),
    SETTLEMENT_TOKEN_ADDRESS: places.usdc,
    DEPOSIT_FACTORY_ADDRESS: places.factory,
    CALLBACK_ALLOWED_HOSTS: [own['CALLBACK_ALLOWED_HOSTS']?.trim(), places.receiverHost]
      .filter(Boolean)
      .join(','),
    NODE_EXTRA_CA_CERTS: places.authoritiesFile,
    ...Object.fromEntries(
      configured
        .filter((id) => providers[id].variables.some(({ name }) => name === 'BASE_URL'))
        .map((id) => [variableNameOf(id, 'BASE_URL'), `${onrampBaseUrl}/${id}`]),
    ),
    ...(needsStandIn(own)
      ? Object.fromEntries(
          Object.entries(standIn).map(([name, value]) => [variableNameOf(STAND_IN, name), value]),
        )
      : {}),
  };
}

/** Returns the operator's environment with the replacements. Replaced secrets are not read from files either. */
export function rehearsalEnvironment(
  own: NodeJS.ProcessEnv,
  replacements: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  const files = Object.keys(replacements).map((name) => [`${name}_FILE`, '']);
  return { ...own, ...Object.fromEntries(files), ...replacements };
}

function isSet(own: NodeJS.ProcessEnv, name: string): boolean {
  return Boolean(own[name]?.trim() || own[`${name}_FILE`]?.trim());
}

/** Lists the providers for which the operator has set at least one variable, in catalog order. */
function configuredProviders(own: NodeJS.ProcessEnv): ProviderId[] {
  return providerIds.filter((id) =>
    providers[id].variables.some(({ name }) => isSet(own, variableNameOf(id, name))),
  );
}

/** Lists the providers that may take the payment. They accept US dollars, so that no exchange rate is needed. */
export function payingProviders(own: NodeJS.ProcessEnv): readonly ProviderId[] {
  return needsStandIn(own) ? [STAND_IN] : configuredProviders(own).filter((id) => takesDollars(own, id));
}

function needsStandIn(own: NodeJS.ProcessEnv): boolean {
  return !configuredProviders(own).some((id) => takesDollars(own, id));
}

function takesDollars(own: NodeJS.ProcessEnv, id: ProviderId): boolean {
  const { onlyCurrency } = providerCatalog[id];
  if (id === 'paypal' && own['PAYPAL_ROUTE']?.trim() === 'banxa') return false;
  return onlyCurrency === null || onlyCurrency === 'USD';
}

/** Problem in the operator's configuration. The rehearsal continues if it replaces the variable anyway. */
interface ConfigurationProblem {
  readonly text: string;
  readonly isReplaced: boolean;
}

/** Lists the problems in the operator's configuration. Each text begins with the name of a variable. */
export function findProblems(own: NodeJS.ProcessEnv): readonly ConfigurationProblem[] {
  try {
    readConfig('live', own);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((text) => {
      const [, name = ''] = /^([A-Z0-9_]+?)(?:_FILE)?(?![A-Z0-9_])/.exec(text) ?? [];
      return { text, isReplaced: replacedNames.has(name) || name.endsWith('_BASE_URL') };
    });
  }
}

export function describeReplacements(
  own: NodeJS.ProcessEnv,
): readonly { level: 'ok' | 'warn'; text: string }[] {
  const replaced = groups.map(([names, what]) => `${what} (${names.replaceAll(' ', ', ')})`).join('; ');
  const text = `${replaced}; simulators in place of the providers (…_BASE_URL). All other variables are yours`;
  return [
    { level: 'ok', text },
    ...(isSet(own, 'DATABASE_URL')
      ? [{ level: 'warn' as const, text: 'PostgreSQL is not rehearsed: check it with card-checkout doctor' }]
      : []),
    ...(needsStandIn(own)
      ? [
          {
            level: 'warn' as const,
            text: `no provider that takes US dollars has credentials, so ${STAND_IN} is simulated with made-up ones: set those of your provider`,
          },
        ]
      : []),
  ];
}
