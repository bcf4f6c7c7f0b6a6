import { Client, type ClientConfig, types } from 'pg';
import { databaseUrls } from '../../platform/database-url.ts';

/** For a new connection to the only host, and for waiting until one of the pool is free. */
const CONNECT_TIMEOUT_MS = 15_000;
/** For each host of several: five of them take less than a new connection may. */
const HOST_TIMEOUT_MS = 2_500;
/** No statement of ours takes longer; one that does holds up others. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** Longer than the server's own limit, for a server that cannot be reached any more: it would never answer. */
const QUERY_TIMEOUT_MS = 33_000;
/** A transaction whose process is gone or frozen must not hold its locks for longer. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000;

/** For statements that may take as long as they need: a change of a large table, a move. */
export const noTimeout = { statement_timeout: 0, query_timeout: 0 } as const;

/** One server of several. */
interface Host {
  readonly host: string;
  readonly port: number;
}

export interface DatabaseClientConfig extends ClientConfig {
  /** The server that accepts writes; null where there is one host only. */
  readonly findHost: (() => Promise<Host>) | null;
}

/** How every connection is made, also the one that migrates. */
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
      // Times and our own amounts are integers that JavaScript can hold exactly.
      getTypeParser: (type, format) =>
        type === types.builtins.INT8 ? Number : types.getTypeParser(type, format as 'text'),
    },
  };
  return { ...options, findHost: others.length === 0 ? null : createHostSearch(databaseUrls(url), options) };
}

/**
 * Asks the hosts one after the other whether they accept writes: first the one that did so last, because a former primary
 * may come back without knowing of its successor, then in the order of the URL. Searches at the same time are one.
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

/** Why a server does not take writes; null where it does. */
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
    // Node's own message is empty where a name has several addresses.
    return (error as NodeJS.ErrnoException).code ?? String((error as Error).message);
  } finally {
    // Not awaited: a server that is gone answers no farewell.
    void client.end().catch(() => {});
  }
}

/** A client of node-postgres that connects to the server that accepts writes, where the URL names several. */
export class DatabaseClient extends Client {
  readonly #findHost: DatabaseClientConfig['findHost'];

  constructor(config: DatabaseClientConfig) {
    super(config);
    this.#findHost = config.findHost;
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
