import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../../simulators/start-sandbox.ts';
import { callServer } from '../../../src/cli/control-socket.ts';
import type { OperationArguments } from '../../../src/cli/operations-context.ts';
import type { CreatedPayment } from '../../support/e2e-service.ts';
import { freePorts } from '../../support/free-ports.ts';
import { providerEnvironment, switchProviderOn } from '../../support/provider-environment.ts';
import {
  type ServiceEnvironment,
  type ServiceProcess,
  startServiceProcess,
} from '../../support/service-process.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';
import { type CanarySearch, createCanarySearch, drawSecret } from './canaries.ts';
import type { Tally } from './promises.ts';
import { exchange, type RawAnswer, type RawRequest } from './raw-exchange.ts';
import { startTalkativeServer, type TalkativeServer } from './talkative-server.ts';

/** A merchant with a key, and the secrets of whose customers are canaries too. */
export interface Merchant {
  readonly accountId: string;
  readonly keyId: string;
  readonly apiKey: string;
}

/** A service in live mode, in a process of its own, of which every secret is a canary. */
export interface Stage {
  readonly url: string;
  readonly adminUrl: string;
  readonly dataDir: string;
  readonly environment: ServiceEnvironment;
  readonly process: ServiceProcess;
  readonly world: Sandbox;
  readonly receiver: WebhookReceiver;
  /** Where callbacks may lead, and nobody listens. */
  readonly silentHost: string;
  /** What stands between the service and its provider, and between it and its node. */
  readonly provider: TalkativeServer;
  readonly node: TalkativeServer;
  readonly search: CanarySearch;
  readonly random: () => number;
  readonly tally: Tally;
  command<T>(name: string, args?: OperationArguments): Promise<T>;
  addMerchant(name: string): Promise<Merchant>;
  /** One request on a connection of its own; the answer is searched where it is an error, and kept where it is a page. */
  ask(request: RawRequest): Promise<RawAnswer>;
  /** A checkout with an email address, a note and a callback that are canaries. */
  create(merchant: Merchant, fields?: Readonly<Record<string, unknown>>): Promise<CreatedPayment>;
  /** The fields of such a create, new ones each time. */
  drawFields(): Readonly<Record<string, string>>;
  /** Notes the secret part of a token. */
  watchToken(ipnToken: string): void;
  stop(): Promise<void>;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** The path's first part of `ipn_token` names a secret, and the next ones the payment: neither is one. */
const TOKEN_MAC_START = 'ipn_'.length + 6 + 32;
/** The discard port: below those that anybody is given. */
const SILENT_HOST = 'localhost:9';
const KEY_SECRET_START = 'service_live_'.length;

/** @param databaseUrl null for SQLite */
export async function openStage(options: {
  readonly random: () => number;
  readonly tally: Tally;
  readonly databaseUrl: string | null;
}): Promise<Stage> {
  const { random, tally, databaseUrl } = options;
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-secrets-'));
  const [receiver, world] = await Promise.all([
    startWebhookReceiver(),
    startSandbox({ dataDir: join(folder, 'world'), log: silent, blockIntervalMs: 300 }),
  ]);
  writeFileSync(join(folder, 'ca.pem'), receiver.caPem);
  const provider = await startTalkativeServer(`${world.onrampBaseUrl}/moonpay`);
  const node = await startTalkativeServer(world.anvilUrl);
  const search = createCanarySearch();
  const draw = (name: string): string => {
    const secret = drawSecret(random);
    search.add({ name, kind: 'key', secret });
    return secret;
  };
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  const dataDir = join(folder, 'data');
  const environment = {
    DATA_DIR: dataDir,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    BASE_URL: 'https://pay.shop.example',
    LOG_LEVEL: 'trace',
    SECRET_KEY: draw('SECRET_KEY'),
    SECRET_KEY_PREVIOUS: draw('SECRET_KEY_PREVIOUS'),
    CHAIN_ID: String(world.chainId),
    POLYGON_RPC_URL: `${node.url}/v2/${draw('key in the path of POLYGON_RPC_URL')}?key=${draw('key in its query')}`,
    SETTLEMENT_TOKEN_ADDRESS: world.usdc,
    DEPOSIT_FACTORY_ADDRESS: world.factory,
    FEE_WALLET: world.feeWallet,
    RELAYER_PRIVATE_KEY: world.relayerPrivateKey,
    ...providerEnvironment(world),
    MOONPAY_BASE_URL: `${provider.url}/v1/onramp`,
    CALLBACK_ALLOWED_HOSTS: `${receiver.host},${SILENT_HOST}`,
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    RATE_LIMIT_STATUS_PER_MINUTE: '1000000',
    RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '1000000',
    ...(databaseUrl === null
      ? {}
      : { DATABASE_URL: withPassword(databaseUrl, draw('password of DATABASE_URL')) }),
  };
  search.add({ name: 'RELAYER_PRIVATE_KEY', kind: 'key', secret: world.relayerPrivateKey.slice(2) });
  // The API key is public: it stands in the address that a customer is sent to.
  for (const name of ['SECRET_KEY', 'WEBHOOK_KEY']) {
    const secret = world.providerValues.moonpay[name] ?? '';
    search.add({ name: `MOONPAY_${name}`, kind: 'key', secret: secret.slice(-24) });
  }
  const process = await startServiceProcess(environment, { args: ['--live'] });
  await switchProviderOn(environment);

  const url = `http://127.0.0.1:${port}`;
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  const actions = actionsOf({ url, dataDir, random, tally, search, receiver, wallet: world.merchantWallet });
  return {
    url,
    adminUrl,
    dataDir,
    environment,
    process,
    world,
    receiver,
    silentHost: SILENT_HOST,
    provider,
    node,
    search,
    random,
    tally,
    ...actions,
    async stop() {
      await process.end('SIGKILL');
      await Promise.all([provider.stop(), node.stop(), receiver.stop(), world.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function withPassword(databaseUrl: string, password: string): string {
  return Object.assign(new URL(databaseUrl), { password }).href;
}

/** What is done on the stage. */
function actionsOf(parts: {
  readonly url: string;
  readonly dataDir: string;
  readonly random: () => number;
  readonly tally: Tally;
  readonly search: CanarySearch;
  readonly receiver: WebhookReceiver;
  readonly wallet: string;
}) {
  const { url, dataDir, random, tally, search, receiver, wallet } = parts;
  const command = async <T>(name: string, args: OperationArguments = {}) =>
    (await callServer(join(dataDir, 'control.sock'), name, args)) as T;

  async function ask(request: RawRequest): Promise<RawAnswer> {
    const answer = await exchange(url, request);
    judgeAnswer({ search, tally }, `${request.method} ${request.path.split('?')[0]}`, answer);
    return answer;
  }

  function drawFields(): Record<string, string> {
    const [email, note, hook] = [drawSecret(random, 24), drawSecret(random), drawSecret(random)];
    search.add({ name: 'email address', kind: 'email', secret: email });
    search.add({ name: 'note', kind: 'note', secret: note });
    search.add({ name: 'query of the callback', kind: 'callback', secret: hook });
    const callback = `${receiver.url}?token=${hook}`;
    return { address: wallet, callback, amount: '80', email: `${email}@customer.example`, note };
  }

  const watchToken = (ipnToken: string) =>
    search.add({ name: 'ipn_token', kind: 'token', secret: ipnToken.slice(TOKEN_MAC_START) });

  return {
    command,
    ask,
    drawFields,
    watchToken,
    async addMerchant(name: string): Promise<Merchant> {
      const { account_id: accountId } = await command<{ account_id: string }>('account create', { name });
      const key = await command<{ key_id: string; api_key: string }>('key create', { account: accountId });
      search.add({ name: `API key of ${name}`, kind: 'key', secret: key.api_key.slice(KEY_SECRET_START) });
      return { accountId, keyId: key.key_id, apiKey: key.api_key };
    },
    async create(
      merchant: Merchant,
      fields: Readonly<Record<string, unknown>> = {},
    ): Promise<CreatedPayment> {
      const body = JSON.stringify({ ...drawFields(), ...fields });
      const headers = { 'content-type': 'application/json', 'x-api-key': merchant.apiKey };
      const answer = await exchange(url, { method: 'POST', path: '/api/v1/wallet', headers, body });
      if (answer.status !== 200) throw new Error(`create answered ${answer.status}: ${answer.body}`);
      const created = JSON.parse(answer.body) as CreatedPayment;
      watchToken(created.ipn_token);
      return created;
    },
  };
}

const everything = new Set(['key', 'token', 'email', 'note', 'callback'] as const);
const withoutNote = new Set(['key', 'token', 'email', 'callback'] as const);
/** Where a click on a provider leads: it is given the email address on purpose, so that nobody has to type it again. */
const withoutEmail = new Set(['key', 'token', 'note', 'callback'] as const);

/** Searches an error and a page at once, with its headers: where customers are sent on to is a header. */
function judgeAnswer(
  { search, tally }: { readonly search: CanarySearch; readonly tally: Tally },
  what: string,
  answer: RawAnswer,
): void {
  const isPage = answer.headers.get('content-type')?.startsWith('text/html') === true;
  if (!isPage && answer.status < 300) return;
  const found = search.find(answer.comparable, kindsIn(what, isPage));
  tally.expect(
    isPage || answer.status < 400 ? 'pages' : 'errors',
    found.length === 0,
    () => `${what}: ${JSON.stringify(found)}`,
  );
}

function kindsIn(
  what: string,
  isPage: boolean,
): typeof everything | typeof withoutNote | typeof withoutEmail {
  if (isPage) return what.startsWith('GET /s/') ? withoutNote : everything;
  return /^POST \/pay\/[^/]+\/providers\//.test(what) ? withoutEmail : everything;
}
