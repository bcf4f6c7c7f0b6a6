import { Client, type ClientConfig, types } from 'pg';
import { databaseUrls } from '../../platform/database-url.ts';

/** Timeout for connecting to a single host, and for waiting for a free connection in the pool. */
const CONNECT_TIMEOUT_MS = 15_000;
/** Timeout for connecting to each of several hosts. Five attempts fit into `CONNECT_TIMEOUT_MS`. */
const HOST_TIMEOUT_MS = 2_500;
/** Server's statement timeout, longer than any statement of the service needs. A slower one would block others. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** Client's statement timeout, longer than the server's, for a server that is unreachable and never responds. */
const QUERY_TIMEOUT_MS = 33_000;
/** Time after which the server ends an idle transaction, to free the locks of a process that is gone or frozen. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000;

/** Options for statements without a time limit, such as a change of a large table or a move. */
export const noTimeout = { statement_timeout: 0, query_timeout: 0 } as const;

interface Host {
  readonly host: string;
  readonly port: number;
}

export interface DatabaseClientConfig extends ClientConfig {
  /** Finds the server that accepts writes; null for a single host. */
  readonly findHost: (() => Promise<Host>) | null;
}

export function connectionOptions(url: string): DatabaseClientConfig {
  const [first, ...others] = databaseUrls(url);
  const options: ClientConfig = {
    connectionString: first,
    application_name: 'card-checkout',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    types: {
      // Parses bigint as number, because times and limited amounts are safe integers.
      getTypeParser: (type, format) =>
        type === types.builtins.INT8 ? Number : types.getTypeParser(type, format as 'text'),
    },
  };
  return { ...options, findHost: others.length === 0 ? null : createHostSearch(databaseUrls(url), options) };
}

/**
 * Creates a function that finds the first host that accepts writes. It tries the last host found first, because a former
 * primary may come back and still accept writes. Concurrent calls share one search.
 */
function createHostSearch(urls: readonly string[], options: ClientConfig): () => Promise<Host> {
  let last: string | undefined;
  let search: Promise<Host> | null = null;

  async function findHost(): Promise<Host> {
    const reasons: string[] = [];
    for (const url of new Set(last === undefined ? urls : [last, ...urls])) {
      const client = new Client({
        ...options,
        connectionString: url,
        connectionTimeoutMillis: HOST_TIMEOUT_MS,
        query_timeout: HOST_TIMEOUT_MS,
      });
      const reason = await refusalOf(client);
      if (reason === null) {
        last = url;
        return { host: client.host, port: client.port };
      }
      reasons.push(`${client.host}:${client.port}: ${reason}`);
    }
    throw new Error(`no host of DATABASE_URL accepts writes (${reasons.join(', ')})`);
  }

  return () => {
    search ??= findHost().finally(() => {
      search = null;
    });
    return search;
  };
}

async function refusalOf(client: Client): Promise<string | null> {
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ standby: boolean; read_only: string }>(
      "SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') AS read_only",
    );
    if (rows[0]?.standby !== false) return 'a standby';
    return rows[0].read_only === 'off' ? null : 'read-only';
  } catch (error) {
    // Prefers the code, because Node's message is empty for a host name with several IP addresses.
    return (error as NodeJS.ErrnoException).code ?? String((error as Error).message);
  } finally {
    // Does not await the end, because an unreachable server never responds.
    void client.end().catch(() => {});
  }
}

/**
 * Client of node-postgres that connects to the server that accepts writes. Its `error` events are ignored, because
 * after a connection breaks, the next statement fails anyway.
 */
export class DatabaseClient extends Client {
  readonly #findHost: DatabaseClientConfig['findHost'];

  constructor(config: DatabaseClientConfig) {
    super(config);
    this.#findHost = config.findHost;
    this.on('error', () => {});
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<this> | undefined {
    const connected = this.#connect();
    if (callback === undefined) return connected;
    connected.then(() => callback(null), callback);
    return undefined;
  }

  async #connect(): Promise<this> {
    if (this.#findHost !== null) Object.assign(this, await this.#findHost());
    await super.connect();
    return this;
  }
}
