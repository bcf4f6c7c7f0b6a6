import { providerIds } from './domain/provider-catalogue.ts';
import { providerVariables, variableNameOf } from './domain/provider-variables.ts';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** One environment variable: its name, whether a file may hold it, and what the documentation says of it. */
export interface Variable {
  readonly name: string;
  readonly isSecret: boolean;
  readonly help: string;
}

const secret = (name: string, help: string): Variable => ({ name, isSecret: true, help });
const plain = (name: string, help: string): Variable => ({ name, isSecret: false, help });

/** Every variable that is read; the documentation and `.env.example` are made from this list. */
export const variables: readonly Variable[] = [
  plain('HOST', 'Address the public server listens on (127.0.0.1).'),
  plain('PORT', 'Port of the public server (3000).'),
  plain('ADMIN_HOST', 'Address of the admin server: metrics and the operator’s console (127.0.0.1).'),
  plain('ADMIN_PORT', 'Port of the admin server (PORT + 1).'),
  plain(
    'ADMIN_BASE_URL',
    'The root under which operators reach the console, behind an HTTPS proxy (http://localhost:ADMIN_PORT).',
  ),
  plain(
    'BASE_URL',
    'The root under which customers and merchants reach the service (http://localhost:PORT).',
  ),
  plain('DATA_DIR', 'Folder for the database, the control socket and the sandbox (./data).'),
  secret(
    'DATABASE_URL',
    'Empty for SQLite in DATA_DIR; postgres://user:password@host:port/database for PostgreSQL, where that database must exist.',
  ),
  secret(
    'SECRET_KEY',
    'At least 32 characters; webhook signing tokens derive from it. The sandbox makes its own.',
  ),
  secret(
    'SECRET_KEY_PREVIOUS',
    'Earlier values of SECRET_KEY, comma-separated; they still prove old tokens.',
  ),
  plain('TRUST_PROXY', 'Networks of proxies whose X-Forwarded-For is believed, comma-separated (none).'),
  plain(
    'COUNTRY_HEADER',
    "The header in which your proxy tells the customer's country, such as CF-IPCountry (none).",
  ),
  plain('TLS_CERT_FILE', 'Certificate chain (PEM) for HTTPS without a proxy.'),
  plain('TLS_KEY_FILE', 'Its private key (PEM).'),
  plain('LOG_LEVEL', `One of ${logLevels.join(', ')} (info).`),
  plain(
    'CALLBACK_ALLOWED_HOSTS',
    'host:port,… exempt from the public-host rule for callbacks; still https (none).',
  ),
  plain('RATE_LIMIT_CREATE_PER_MINUTE', 'Creates a minute and API key (60).'),
  plain('RATE_LIMIT_STATUS_PER_MINUTE', 'Status reads a minute and API key (120).'),
  plain('RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE', 'Requests without a valid key a minute and address (30).'),
  plain('CHECKOUT_EXPIRY_HOURS', 'How long a checkout waits for money (168).'),
  plain('UNDERPAYMENT_TOLERANCE_PERCENT', 'How much less than expected still counts as paid in full (2).'),
  plain('MAX_PROVIDER_FEE_PERCENT', 'A provider that keeps more of a charge than this is not offered (30).'),
  plain('CHAIN_ID', 'The chain (137, Polygon).'),
  secret(
    'POLYGON_RPC_URL',
    'RPC endpoints, comma-separated; on two or more hosts, two must agree before anything is paid.',
  ),
  plain('DEPOSIT_FACTORY_ADDRESS', 'The deposit factory, as `contract deploy` printed it.'),
  plain('SETTLEMENT_TOKEN_ADDRESS', 'The USDC contract, only for chains that have no well-known one.'),
  secret('RELAYER_PRIVATE_KEY', 'The key that sends releases; it can spend only its own gas money.'),
  plain(
    'RELAY_MAX_FEE_POL',
    'The most one release transaction may cost, gas limit times fee; not above your nodes’ --rpc.txfeecap (1).',
  ),
  plain('FEE_WALLET', "Where the account's fees go."),
  secret('SMTP_URL', 'The mail server: smtp(s)://user:password@host:port; empty sends no e-mail (none).'),
  plain('MAIL_FROM', 'Whom e-mails come from, such as Shop <pay@example.com>; needed with SMTP_URL.'),
  plain('SANDBOX_CHAIN_PORT', "Fixes the loopback port of the sandbox's chain (a free one)."),
  ...providerIds.flatMap((id) =>
    providerVariables[id].map(({ name, isSecret, help }) => ({
      name: variableNameOf(id, name),
      isSecret,
      help,
    })),
  ),
];
