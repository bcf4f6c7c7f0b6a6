import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONTROL_SOCKET, callServer } from '../../../src/cli/control-socket.ts';
import { askChain } from '../../support/ask-chain.ts';
import { type EndToEndService, startEndToEndService } from '../../support/e2e-service.ts';
import { createKillControl, type KillControl } from '../../support/kill-points/control.ts';
import { ARRIVED } from '../../support/kill-points/points.ts';
import { type LiveInstance, openLiveInstances } from '../../support/live-instances.ts';
import type { ServiceEnvironment } from '../../support/service-process.ts';
import { readTokenBalance } from '../../support/token-balance.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';

/** A service in real processes with a real chain and a real receiver, of which a process can be killed at a point. */
export interface KillStage {
  readonly name: string;
  readonly control: KillControl;
  readonly receiver: WebhookReceiver;
  /** How long after the kill a webhook that was cut off may stay without its outcome. */
  readonly staleWebhookMs: number;
  living(): { readonly url: string; readonly apiKey: string };
  /** Runs an operation of the command line in a process that lives; rejects where none does. */
  operate(name: string, args: Readonly<Record<string, string>>): Promise<unknown>;
  /** Plays the customer at a provider to the end; throws when that is not possible (any more). */
  pay(paymentId: string): Promise<void>;
  /** Test USDC of a wallet on the chain, 10⁻⁶ units. */
  readBalance(owner: string): Promise<bigint>;
  /** Has the next block ask for so much more, or less, POL for gas; rejects while the chain is away. */
  setGasPrice(price: 'usual' | 'high'): Promise<void>;
  output(): string;
  /** The kill that was armed has happened, and no process is there that would not answer. */
  isKilled(): boolean;
  /** Starts what was killed, where nobody else can take over its work. */
  revive(): Promise<void>;
  /** Starts whatever else was killed. */
  complete(): Promise<void>;
  stop(): Promise<void>;
}

/** By far more than what is signed while the usual price is asked for. */
const gasPricesWei = { usual: 10n ** 9n, high: 1_000n * 10n ** 9n };

/** Not by the command itself, which would open the database where no server runs, and be in the way of the next. */
function operateAt(
  { DATA_DIR: folder }: ServiceEnvironment,
  name: string,
  args: Readonly<Record<string, string>>,
): Promise<unknown> {
  return callServer(join(folder as string, CONTROL_SOCKET), name, args);
}

async function setGasPrice(chainUrl: string, price: keyof typeof gasPricesWei): Promise<void> {
  await askChain(chainUrl, 'anvil_setNextBlockBaseFeePerGas', [`0x${gasPricesWei[price].toString(16)}`]);
  // Nobody else mines while nothing waits that could be mined at the price of now.
  await askChain(chainUrl, 'evm_mine', []);
}

/** That it is late is found by the promise about it, and must not end everything. */
const START_MS = 90_000;

/** One sandbox process on SQLite: what is killed is started again, and its chain with it. */
export async function openSqliteStage(): Promise<KillStage> {
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-kills-'));
  const control = createKillControl(folder);
  let service: EndToEndService | null = null;
  const receiver = await startWebhookReceiver(204, async () => {
    if (control.armed() !== ARRIVED) return;
    control.disarm();
    await service?.process().end('SIGKILL');
  });
  service = await startEndToEndService({}, { nodeArgs: control.nodeArgs, receiver, boundMs: START_MS });
  const { environment, url } = service;
  const started = service;
  const apiKey = service.process().demoKey();
  const complete = async () => {
    if (started.process().hasEnded()) await started.restart('SIGKILL');
  };
  return {
    name: 'SQLite, one process',
    control,
    receiver,
    staleWebhookMs: 30_000,
    living: () => ({ url, apiKey }),
    operate: (name, args) => operateAt(environment, name, args),
    async pay(paymentId) {
      await operateAt(environment, 'sandbox pay', { payment: paymentId });
    },
    readBalance: (owner) => started.readBalance(owner),
    setGasPrice: (price) =>
      setGasPrice(/Local chain\s+(\S+)/.exec(started.process().output())?.[1] ?? '', price),
    output: () => started.process().output(),
    isKilled: () => started.process().hasEnded(),
    async revive() {
      await started.restart('SIGKILL');
    },
    complete,
    async stop() {
      control.disarm();
      // The chain of a sandbox that was killed ends with the next one.
      await complete();
      await started.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Slower than the watcher of live mode looks, so that it sees what is not final yet. */
const LIVE_BLOCK_INTERVAL_MS = 1_200;
/** Of two processes nobody knows that a third is gone: a webhook counts as given up after two minutes. */
const STALE_AMONG_SEVERAL_MS = 170_000;

/** Two processes in live mode on one PostgreSQL: when one is killed, the other goes on with its work. */
export async function openPostgresStage(): Promise<KillStage> {
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-kills-'));
  const control = createKillControl(folder);
  let instances: LiveInstance[] = [];
  const receiver = await startWebhookReceiver(204, async () => {
    if (control.armed() !== ARRIVED) return;
    control.disarm();
    // Which of them sends cannot be told from here, so both are killed.
    await Promise.all(instances.map(({ process }) => process.end('SIGKILL')));
  });
  const live = await openLiveInstances({
    nodeArgs: control.nodeArgs,
    receiver,
    blockIntervalMs: LIVE_BLOCK_INTERVAL_MS,
  });
  const database = { DATABASE_URL: await live.postgres.createDatabase() };
  instances = await Promise.all([live.start('all', database), live.start('all', database)]);
  const running = () => {
    const found = instances.find(({ process }) => !process.hasEnded());
    if (found === undefined) throw new Error('no process lives');
    return found;
  };
  const operate = (name: string, args: Readonly<Record<string, string>>) =>
    operateAt(running().environment, name, args);
  const { account_id: account } = (await operate('account create', { name: 'Shop' })) as {
    account_id: string;
  };
  const { api_key: apiKey } = (await operate('key create', { account })) as { api_key: string };
  const startMissing = async () => {
    instances = await Promise.all(
      instances.map((instance) =>
        instance.process.hasEnded() ? live.startAgain('all', instance) : instance,
      ),
    );
  };
  return {
    name: 'PostgreSQL, two processes',
    control,
    receiver,
    staleWebhookMs: STALE_AMONG_SEVERAL_MS,
    living: () => ({ url: running().url, apiKey }),
    operate,
    async pay(paymentId) {
      const click = await fetch(`${running().url}/pay/${paymentId}/providers/moonpay`, {
        method: 'POST',
        redirect: 'manual',
      });
      const order = click.headers.get('location');
      if (click.status >= 400 || order === null) throw new Error(`the click was answered ${click.status}`);
      await live.world.pay({ order });
    },
    readBalance: (owner) => readTokenBalance(live.world.anvilUrl, live.world.usdc, owner),
    setGasPrice: (price) => setGasPrice(live.world.anvilUrl, price),
    output: () => instances.map(({ process }) => process.output()).join('\n'),
    isKilled: () => instances.some(({ process }) => process.hasEnded()),
    async revive() {
      if (instances.every(({ process }) => process.hasEnded())) await startMissing();
    },
    complete: startMissing,
    async stop() {
      control.disarm();
      await live.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
