import { providerIds } from '../payment/provider-catalog.ts';
import { variableNameOf } from '../providers/adapters/define-provider.ts';
import type { ProviderVariable } from '../providers/adapters/provider-variables.ts';
import { providers } from '../providers/adapters/providers.ts';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export type Variable = Pick<ProviderVariable, 'name' | 'isSecret' | 'help'>;

/** Purpose of each variable of the service itself, in the order of the documentation. */
const help = {
  HOST: 'Listen address of the public server (127.0.0.1).',
  PORT: 'Port of the public server (3000).',
  ADMIN_HOST: 'Listen address of the admin server: metrics and operator console (127.0.0.1).',
  ADMIN_PORT: 'Port of the admin server (PORT + 1).',
  ADMIN_BASE_URL: 'Public URL of the operator console behind an HTTPS proxy (http://localhost:ADMIN_PORT).',
  BASE_URL: 'Public URL of the service for customers and merchants (http://localhost:PORT).',
  DATA_DIR: 'Folder for the database, the control socket and the sandbox (./data).',
  DATABASE_URL:
    'postgres://user:password@host:port/database for an existing PostgreSQL database, also with several hosts: host1:port,host2:port (append ?prepared_statements=false behind PgBouncer in transaction mode); empty for SQLite in DATA_DIR.',
  DATABASE_COPY_URL:
    'Continuous copy of the SQLite database by Litestream, beside the service: file:///folder on another disk, or s3://bucket/path?endpoint=https://…&region=… with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (none).',
  SECRET_KEY: 'At least 32 characters; webhook signing tokens derive from it. The sandbox generates its own.',
  SECRET_KEY_PREVIOUS:
    'Earlier values of SECRET_KEY, comma-separated, the oldest last; they keep older tokens valid, and the references of returning customers the same.',
  TRUST_PROXY: 'Networks of proxies whose X-Forwarded-For is trusted, comma-separated (none).',
  COUNTRY_HEADER:
    "Header in which your proxy sends the customer's country, such as CF-IPCountry, or country and US state (US-NY) (none).",
  TLS_CERT_FILE: 'Certificate chain (PEM) for HTTPS without a proxy.',
  TLS_KEY_FILE: 'Private key of that certificate (PEM).',
  HSTS_SUBDOMAINS:
    'on extends Strict-Transport-Security to all subdomains of the host, when each of them has HTTPS (off).',
  LOG_LEVEL: `One of ${logLevels.join(', ')} (info).`,
  OTEL_EXPORTER_OTLP_ENDPOINT:
    'Collector of traces (OTLP over HTTP), such as http://localhost:4318; needs packages of OpenTelemetry (none).',
  CALLBACK_ALLOWED_HOSTS:
    'Callback hosts, as host:port,…, that need not be public; HTTPS is still required (none).',
  EGRESS_PROXY_URL:
    'HTTP proxy for RPC endpoints, providers, exchange rates and webhooks, as http://[user:password@]host:port (none).',
  RATE_LIMIT_CREATE_PER_MINUTE: 'Creates per minute for each API key (60).',
  RATE_LIMIT_STATUS_PER_MINUTE: 'Status reads, and merchant API requests, per minute for each API key (120).',
  RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: 'Requests per minute without a valid key for each address (30).',
  CHECKOUT_EXPIRY_HOURS: 'Hours after which an unpaid checkout expires (168).',
  AUDIT_RETENTION_DAYS:
    'Days after which entries of the audit log are deleted, at least 90; each account keeps its newest (no limit).',
  CUSTOMER_DATA_RETENTION_DAYS:
    'Days after the creation of a payment in which its email address, metadata, note, and bodies and answers of its webhooks are kept; at least 30 more than CHECKOUT_EXPIRY_HOURS (no limit).',
  UNDERPAYMENT_TOLERANCE_PERCENT: 'Shortfall that still counts as paid in full, in percent (2).',
  MAX_PROVIDER_FEE_PERCENT:
    'Maximum share of a charge that a provider may keep; others are not offered (30).',
  CHAIN_ID: 'Chain id (137, Polygon).',
  POLYGON_RPC_URL:
    'RPC endpoints (https), comma-separated; with two or more hosts, two must agree before a payment becomes paid. A wss URL announces new blocks.',
  DEPOSIT_FACTORY_ADDRESS: 'Address of the deposit factory that `contract deploy` printed.',
  SETTLEMENT_TOKEN_ADDRESS: 'Address of the USDC contract, only for chains without a well-known one.',
  RELAYER_PRIVATE_KEY:
    'Private key that sends releases, or up to 16, comma-separated; each can spend only its own POL. None with RELAYER_SIGNER_URL.',
  RELAYER_SIGNER_URL:
    'URL of a signer that keeps these keys (Web3Signer, clef), in place of RELAYER_PRIVATE_KEY, as https://[user:password@]host (none).',
  RELAYER_ADDRESS:
    'Address that the signer signs for, or up to 16, comma-separated; required with RELAYER_SIGNER_URL.',
  RELAY_MAX_FEE_POL:
    'Maximum cost of one release transaction in POL, gas limit times fee; at most the --rpc.txfeecap of your nodes (1).',
  RELAY_MAX_GAS_SHARE_PERCENT:
    'A release whose gas costs more than this share of the received amount waits up to a day for lower fees (no limit).',
  POL_PRICE_USD: 'Price of one POL in USD, required with RELAY_MAX_GAS_SHARE_PERCENT.',
  RELAY_BATCH_WINDOW_MS:
    'Milliseconds that a due release waits for others to share its transaction, which saves gas (0).',
  MULTICALL3_ADDRESS:
    'Address of Multicall3, only for chains that have it elsewhere (0xcA11bde05977b3631167028862bE2a173976CA11).',
  FEE_WALLET: 'Wallet that receives the fees of the accounts.',
  SMTP_URL: 'Mail server as smtp(s)://user:password@host:port; empty disables email (none).',
  MAIL_FROM: 'Sender of emails, such as Shop <pay@example.com>; required with SMTP_URL.',
  SANDBOX_CHAIN_PORT: 'Loopback port of the sandbox chain (PORT + 5, or a free port when that is taken).',
} as const;

/** Variables whose value may be in a file. */
const secrets: ReadonlySet<string> = new Set<keyof typeof help>([
  'DATABASE_URL',
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'POLYGON_RPC_URL',
  'RELAYER_PRIVATE_KEY',
  'RELAYER_SIGNER_URL',
  'SMTP_URL',
  'EGRESS_PROXY_URL',
]);

/** Every environment variable of the service; documentation and `.env.example` are generated from this list. */
export const variables: readonly Variable[] = [
  ...Object.entries(help).map(([name, text]) => ({ name, isSecret: secrets.has(name), help: text })),
  ...providerIds.flatMap((id) =>
    providers[id].variables.map(({ name, isSecret, help }) => ({
      name: variableNameOf(id, name),
      isSecret,
      help,
    })),
  ),
];
