import { privateKeyToAddress } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { watchRefunds } from '../../src/features/refunds/watch-refunds.ts';
import { type Address, createDepositAddressCalculator, termsOf } from '../../src/payment/address.ts';
import { cancelPayment } from '../../src/payment/cancel-payment.ts';
import {
  type CreatePaymentContext,
  type CreatePaymentRequest,
  createDirectPayment,
  createPayment,
} from '../../src/payment/create-payment.ts';
import { createIpnTokens } from '../../src/payment/ipn-token.ts';
import { USD_RATE_ONE } from '../../src/payment/money.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { type PaymentState, stateOf } from '../../src/payment/payment-states.ts';
import type { PaymentView } from '../../src/payment/payment-store.ts';
import { acceptPayment, releasePayment } from '../../src/payment/release-payment.ts';
import { settleScanned } from '../../src/payment/settle.ts';
import { createKeyedHash } from '../../src/platform/keyed-hash.ts';
import { createProviderChecks, createQuotes } from '../../src/providers/ask-quotes.ts';
import type { ProviderAdapter, StartedSession } from '../../src/providers/provider.ts';
import { createStartSession } from '../../src/providers/start-session.ts';
import { defaultRelayLimits, type RelayLimits } from '../../src/settlement/batch-and-gas-limits.ts';
import type { RelayCall } from '../../src/settlement/chain/chain.ts';
import type { FinalityDoubt } from '../../src/settlement/chain/confirm-finality.ts';
import { createChainReader } from '../../src/settlement/chain/create-chain-reader.ts';
import type { ChainEndpoint } from '../../src/settlement/chain/endpoint-rotation.ts';
import { encodeRelayCall } from '../../src/settlement/chain/read-logs.ts';
import { createRelayer } from '../../src/settlement/chain/relayer.ts';
import { openSigner, type RelayerKey } from '../../src/settlement/chain/signer.ts';
import { createBalanceSweep, createTokenReader } from '../../src/settlement/chain/token-reader.ts';
import { expirePayments } from '../../src/settlement/expire-payments.ts';
import {
  createRelayMemory,
  type RelayContext,
  type RelayIncident,
} from '../../src/settlement/relay/relay-context.ts';
import { relayReleases } from '../../src/settlement/relay/relay-releases.ts';
import { rescanFinalBlocks } from '../../src/settlement/rescan-blocks.ts';
import { rescueToken } from '../../src/settlement/rescue-token.ts';
import { rewindByHand } from '../../src/settlement/rewind-final-blocks.ts';
import type { BlockReference, RelayBatch } from '../../src/settlement/settlement-store.ts';
import { createKeptBlocks, createOpenAddresses, watchDeposits } from '../../src/settlement/watch-deposits.ts';
import type { Webhook } from '../../src/webhooks/send-webhook.ts';
import { addressFor, type LocalChain, startLocalChain } from '../chain/local-chain.ts';
import { newAccount } from '../store/fixtures.ts';
import { type AnvilOptions, anvilKeys } from '../support/anvil.ts';
import { addressLinkTokens } from '../support/refunds.ts';
import { createTestDatabase } from '../support/test-store.ts';
import { hidingLogs, noFaults, withFaults } from './faults.ts';

/** How far apart blocks are, on the chain and on the clock of the test. */
export const BLOCK_MS = 2_000;
export const HOUR_MS = 3_600_000;
export const EXPIRY_MS = 168 * HOUR_MS;
export const FEE_BASIS_POINTS = 250;

/** The value of a payment of 95 USD, its paid threshold before a session is started, and the value less the fee. */
export const EXPECTED_UNITS = 95_000_000n;
export const ENOUGH_UNITS = 93_100_000n;
export const TO_MERCHANT_UNITS = 92_625_000n;

export const rival = privateKeyToAddress(anvilKeys[2]);
const SECRET = 'a secret key of the settlement tests, long enough';

/** A chain that makes blocks only when told to; final is two blocks below the newest unless asked otherwise. */
export async function startSettlementChain(
  options: Pick<AnvilOptions, 'slotsInAnEpoch'> = {},
): Promise<LocalChain> {
  const chain = await startLocalChain({ mining: 'manual', ...options });
  await chain.anvil.rpc('anvil_setBlockTimestampInterval', [BLOCK_MS / 1000]);
  // Transactions of a test offer far more gas than they use; many of them still have to fit into one block.
  await chain.anvil.rpc('evm_setBlockGasLimit', ['0x3b9aca00']);
  return chain;
}

/** The process ended here: what was in its memory is gone. */
export class CrashError extends Error {}

/**
 * For a file of tests: one chain for all of them, and for each a settlement of its own that has seen the chain's
 * start. What is returned stands for the present ones and can be used in hooks and tests.
 */
export function useSettlement(
  options: SettlementOptions & { readonly chain?: Pick<AnvilOptions, 'slotsInAnEpoch'> } = {},
) {
  let chain: LocalChain | undefined;
  let settlement: Settlement | undefined;

  async function open(own: SettlementOptions): Promise<void> {
    settlement = await openSettlement(chain as LocalChain, { ...options, ...own });
    await settlement.watch();
  }

  beforeAll(async () => {
    chain = await startSettlementChain(options.chain);
  });
  afterAll(() => chain?.stop());
  beforeEach(() => open({}));
  afterEach(() => settlement?.close());
  return {
    chain: standInFor(() => chain as LocalChain),
    settlement: standInFor(() => settlement as Settlement),
    /** Replaces the test's settlement by one with other options. */
    async reopen(own: SettlementOptions) {
      await settlement?.close();
      await open(own);
    },
  };
}

/** Reads from whatever is there at the time of reading. */
function standInFor<Present extends object>(present: () => Present): Present {
  return new Proxy({} as Present, { get: (_, name) => Reflect.get(present(), name) });
}

/** What one settlement may do otherwise than the rest. */
export interface SettlementOptions {
  readonly finalityBlocks?: number;
  readonly limits?: Partial<RelayLimits>;
  /** The nodes that the relayer asks, about its token too, instead of the chain's own. */
  readonly relayerEndpoints?: readonly ChainEndpoint[];
}

export type Settlement = Awaited<ReturnType<typeof openSettlement>>;

let opened = 0;
let senders = 0;

/**
 * The real steps over a real store and a real chain, each called by hand, with a clock that moves with the blocks.
 * `finalityBlocks`: how far below the newest block the chain's final one is. Close it after the test.
 */
export async function openSettlement(chain: LocalChain, options: SettlementOptions = {}) {
  const name = `settlement ${++opened}`;
  const finalityBlocks = options.finalityBlocks ?? 2;
  const feeWallet = addressFor(`fee wallet of ${name}`);
  const faults = noFaults();
  const factories: Address[] = [chain.factory];
  const rewinds: BlockReference[] = [];
  const incidents: RelayIncident[] = [];
  const liveRelayers = new Set<string>();
  let relayerKey: RelayerKey = anvilKeys[1];
  await chain.anvil.rpc('anvil_dropAllTransactions');
  const start = (await chain.anvil.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  let currentMs = Number(start.timestamp) * 1000;
  const nowMs = () => currentMs;
  // Survives a crash: ids come from the clock and from randomness.
  const newPaymentId = createPaymentIdGenerator(nowMs);
  const session = createSessionDouble(nowMs);

  const limits = { ...defaultRelayLimits, batchWindowMs: 0, ...options.limits };
  const database = await createTestDatabase(nowMs);
  let parts = await openParts();
  const account = newAccount({
    id: `account of ${name}`,
    feeBasisPoints: FEE_BASIS_POINTS,
    createdAtMs: currentMs,
  });
  await parts.store.accounts.createAccount(account);
  let merchants = 0;

  async function openParts() {
    const store = await database.open();
    const relayer = createRelayer({
      endpoints: options.relayerEndpoints ?? chain.endpoints,
      chainId: chain.anvil.chainId,
      signer: openSigner(relayerKey, { timeoutMs: 1_000 }),
    });
    return {
      store,
      kept: createKeptBlocks(),
      openAddresses: createOpenAddresses({ ...store, monotonicMs: nowMs }),
      reader: hidingLogs(
        createChainReader({
          endpoints: chain.endpoints,
          sources: { token: chain.token, factories },
          isOwnNode: true,
        }),
        faults,
      ),
      token: createTokenReader({
        endpoints: options.relayerEndpoints ?? chain.endpoints,
        token: chain.token,
      }),
      relayer: withFaults(relayer, faults),
      memory: createRelayMemory(),
      startSession: createStartSession({
        ipHash: createKeyedHash('IP addresses of customers', 'a secret of the tests'),
        customerHash: createKeyedHash('customers at providers', 'a secret of the tests'),
        ...store,
        providers: { adapters: new Map([['wert', session.adapter]]), settings: store.providers },
        token: createTokenReader({ endpoints: chain.endpoints, token: chain.token }),
        nowMs,
        monotonicMs: nowMs,
        checkoutPageUrl: (payment) => `https://pay.example.com/pay/${payment.id}`,
      }),
    };
  }

  const sweep = createBalanceSweep({ endpoints: chain.endpoints, token: chain.token });

  function watchContext() {
    const { store, kept, openAddresses, reader } = parts;
    return {
      kept,
      openAddresses,
      finality: { everyMs: 0, monotonicMs: nowMs },
      expectsReleases: async () => true,
      chain: reader,
      observations: store.observations,
      payments: store.payments,
      decide: (view: PaymentView) => settleScanned(view, { nowMs: nowMs() }),
      onRewind: (from: BlockReference) => void rewinds.push(from),
    };
  }

  const relayContext = (): RelayContext => ({
    ...parts.store,
    relayer: parts.relayer,
    token: parts.token,
    nowMs,
    limits,
    memory: parts.memory,
    withRelayerLease: async (relayer, follow) => {
      if (!liveRelayers.has(relayer)) await follow();
    },
    onIncident: (incident) => void incidents.push(incident),
  });

  /** The sender of a relayer key of its own, with POL for gas, on the same store, as in another process. */
  async function openSender() {
    const { endpoints, anvil } = chain;
    const privateKey: `0x${string}` = `0x${(++senders).toString(16).padStart(64, '5')}`;
    await anvil.rpc('anvil_setBalance', [privateKeyToAddress(privateKey), `0x${(10n ** 20n).toString(16)}`]);
    const relayer = createRelayer({ endpoints, chainId: anvil.chainId, signer: openSigner(privateKey) });
    const memory = createRelayMemory();
    return {
      address: relayer.address,
      relay: () => relayReleases({ ...relayContext(), relayer: withFaults(relayer, faults), memory }),
    };
  }

  function createContext(change: Partial<CreatePaymentContext['settlement']>): CreatePaymentContext {
    const directory = {
      adapters: new Map([['wert', session.adapter]] as const),
      settings: parts.store.providers,
    };
    const quotes = createQuotes({ providers: directory, nowMs, monotonicMs: nowMs, keepMs: 0 });
    return {
      payments: parts.store.payments,
      providers: createProviderChecks(directory, quotes),
      rates: { usdRate: async () => USD_RATE_ONE },
      settlement: {
        chainId: chain.anvil.chainId,
        factory: chain.factory,
        feeWallet,
        depositAddressOf: chain.depositOf,
        reservedAddresses: new Set([chain.token, chain.factory]),
        ...change,
      },
      nowMs,
      newPaymentId,
      tokenFingerprint: createIpnTokens(SECRET).currentFingerprint,
      thresholdDefaults: { toleranceBasisPoints: 200, maxProviderFeeBasisPoints: 3_000 },
    };
  }

  async function mine(blocks = 1): Promise<void> {
    await chain.anvil.rpc('evm_setNextBlockTimestamp', [Math.floor(currentMs / 1000) + BLOCK_MS / 1000]);
    await chain.anvil.mine(blocks);
    currentMs += blocks * BLOCK_MS;
  }

  async function watch() {
    for (;;) {
      const pass = await watchDeposits(watchContext());
      if (pass.isCaughtUp) return pass;
    }
  }

  async function read(payment: Pick<Payment, 'id'>): Promise<Payment> {
    const found = await parts.store.payments.findPaymentById(payment.id);
    if (found === null) throw new Error(`payment ${payment.id} is gone`);
    return found;
  }

  /** Mines what is in the air until it is final, watching and relaying, until nothing is in flight or due. */
  async function settleDown(): Promise<void> {
    for (let round = 0; round < 12; round++) {
      await mine(round === 0 ? 1 : finalityBlocks);
      await watch();
      const pass = await relayReleases(relayContext());
      const isIdle = pass === 'idle' || pass === 'refused';
      const inFlight = await parts.store.relay.listOpenBatches(10);
      if (isIdle && inFlight.length === 0 && round > 0) return;
    }
    throw new Error('the relayer did not come to rest');
  }

  let lastRescannedTo: BlockReference | null = null;
  const handle = {
    chain,
    /** Somebody else's hand in the database. */
    inDatabase: database.execute,
    tokens: createIpnTokens(SECRET),
    feeWallet,
    account,
    faults,
    factories,
    rewinds,
    incidents,
    /** Relayers that have a sender of their own at work somewhere. */
    liveRelayers,
    session,
    finalityBlocks,
    nowMs,
    get store() {
      return parts.store;
    },
    get relayer() {
      return parts.relayer;
    },
    get token() {
      return parts.token;
    },
    advance(ms: number) {
      currentMs += ms;
    },
    mine,
    /** Blocks until what is in the newest one is final. */
    finalize: () => mine(finalityBlocks),
    /** Replaces the newest blocks by empty ones; their transactions are gone. */
    async reorganize(depth: number) {
      await chain.anvil.rpc('anvil_reorg', [depth, []]);
    },
    /** Transactions that wait for a block are forgotten by the node. */
    async dropWaiting() {
      await chain.anvil.rpc('anvil_dropAllTransactions');
    },
    /** So many blocks, and a pass over them. */
    async mineAndWatch(blocks = 1) {
      await mine(blocks);
      return watch();
    },
    watch,
    watchOnce: () => watchDeposits(watchContext()),
    rewindByHand: (blockNumber: number | null) =>
      parts.reader.withView((view) => rewindByHand(watchContext(), view, blockNumber)),
    watchRefunds: () => watchRefunds({ ...parts.store, chain: parts.reader, nowMs }),
    refundContext: () => ({
      ...parts.store,
      isServiceAddress: async (address: Address) =>
        createContext({}).settlement.reservedAddresses.has(address) ||
        (await parts.store.payments.findDepositOwners([address])).length > 0,
      addressLinkTokens,
      baseUrl: 'https://checkout.example',
      nowMs,
    }),
    /** Sends USDC from a wallet; the next block has it. Returns the transaction's hash. */
    transfer: (to: Address, units: bigint) => chain.callToken({ name: 'mint', to, units }),
    /** Returns how many rows were missing. */
    async rescan(depthBlocks: number): Promise<number> {
      const { added, rescannedTo } = await rescanFinalBlocks(watchContext(), { depthBlocks });
      lastRescannedTo = rescannedTo;
      return added;
    },
    rescanAndCompare: (depthBlocks: number) => rescanFinalBlocks(watchContext(), { depthBlocks }),
    rescanAtEach: async (depthBlocks: number) =>
      (await rescanFinalBlocks(watchContext(), { depthBlocks }, { isEachAsked: true })).added,
    /** From now on the chain is read through these endpoints; what is sent still goes to the node itself. */
    readThrough(endpoints: readonly ChainEndpoint[], onDisagreement: (doubt: FinalityDoubt) => void) {
      const reader = createChainReader({
        endpoints,
        sources: { token: chain.token, factories },
        onDisagreement,
        monotonicMs: nowMs,
      });
      parts = { ...parts, reader: hidingLogs(reader, faults) };
    },
    relay: () => relayReleases(relayContext()),
    /** Blocks go on, and none of them becomes final until `end` is called. */
    async stallFinality() {
      const final = await parts.reader.withView((view) => view.readFinal());
      const count = await parts.relayer.readFinalTransactionCount(Number.MAX_SAFE_INTEGER);
      faults.stalledAt = { final, count };
      return {
        end() {
          faults.stalledAt = null;
        },
      };
    },
    openSender,
    /** As if all that was scanned had been read a second time, without a fault. */
    async expire() {
      lastRescannedTo = await parts.store.observations.readCursor();
      return this.expireRescanned();
    },
    /** With what `rescan` has read. */
    expireRescanned: () =>
      expirePayments({
        ...parts.store,
        sweep,
        rescannedTo: () => lastRescannedTo,
        nowMs,
        expiryMs: EXPIRY_MS,
      }),
    accept: (payment: Payment, units: bigint) => acceptPayment({ ...parts.store, nowMs }, payment.id, units),
    cancel: (payment: Payment) => cancelPayment({ ...parts.store, nowMs }, payment.id, 'merchant'),
    release: (payment: Payment) => releasePayment({ ...parts.store, nowMs }, payment.id),
    rescue: (payment: Payment, token: Address) =>
      rescueToken({ ...parts.store, relayer: parts.relayer, limits, nowMs }, payment.id, token),
    startSession: (payment: Payment) => parts.startSession(payment, 'wert'),
    settleDown,
    read,
    state: async (payment: Payment): Promise<PaymentState> => stateOf(await read(payment)),
    webhooks: (payment: Payment): Promise<readonly Webhook[]> =>
      parts.store.webhooks.listWebhooks(payment.id),
    observations: async (payment: Payment) => {
      const view = await parts.store.payments.viewPayment(payment.id);
      if (view === null) throw new Error(`payment ${payment.id} is gone`);
      return view.observations;
    },
    balanceOf: (address: Address) => parts.token.readBalance(address),
    /** What the token says of the three places a payment's money can be. */
    async balancesOf(payment: Payment) {
      const [merchant, fees, held] = await Promise.all(
        [payment.payoutAddress, payment.feeWallet, payment.depositAddress].map(parts.token.readBalance),
      );
      return { merchant, fees, held };
    },
    async create(
      change: Partial<CreatePaymentRequest> = {},
      terms: Partial<CreatePaymentContext['settlement']> = {},
      merchant: Account = account,
    ): Promise<Payment> {
      return createPayment(createContext(terms), merchant, {
        payoutAddress: addressFor(`merchant ${++merchants} of ${name}`),
        callbackUrl: 'https://shop.example.com/hook',
        amountCents: 95_00,
        currency: 'USD',
        passFeeToCustomer: false,
        provider: 'wert',
        email: null,
        note: null,
        idempotencyKey: null,
        ...change,
      });
    },
    /** One that is paid from a wallet. */
    createDirect(own: Partial<Account> = {}): Promise<Payment> {
      return createDirectPayment(
        createContext({}),
        { ...account, ...own },
        {
          payoutAddress: addressFor(`merchant ${++merchants} of ${name}`),
          callbackUrl: 'https://shop.example.com/hook',
          amountCents: 10_000,
          currency: 'USD',
          email: null,
          note: 'Order 7',
        },
      );
    },
    /** Sends USDC to a payment's deposit address; the next block has it. Returns the transaction's hash. */
    deposit: (payment: Payment, units: bigint) =>
      chain.callToken({ name: 'mint', to: payment.depositAddress, units }),
    /** A payment with a deposit that was seen and is not final. */
    async createWithDeposit(units = EXPECTED_UNITS): Promise<Payment> {
      const payment = await handle.create();
      await handle.deposit(payment, units);
      await handle.mineAndWatch();
      return payment;
    },
    /** A payment whose deposit had all its consequences. */
    async createSettled(units = EXPECTED_UNITS): Promise<Payment> {
      const payment = await handle.createWithDeposit(units);
      await settleDown();
      return payment;
    },
    /** So many payments whose release is due. */
    async createReady(count: number): Promise<Payment[]> {
      const payments: Payment[] = [];
      for (let index = 0; index < count; index++) payments.push(await handle.create());
      for (const payment of payments) await handle.deposit(payment, EXPECTED_UNITS);
      await handle.mineAndWatch();
      return payments;
    },
    /** The batches of our own relayer that have no outcome yet. */
    openBatches: (): Promise<readonly RelayBatch[]> =>
      parts.store.relay.listOpenBatchesOf(parts.relayer.address),
    async openBatch(): Promise<RelayBatch> {
      const [batch] = await handle.openBatches();
      if (batch === undefined) throw new Error('no batch is open');
      return batch;
    },
    /** Each is paid, with all of its money, by one release and with one webhook. Returns the last of them. */
    async expectPaidOnce(...payments: readonly Payment[]): Promise<Payment> {
      for (const payment of payments) {
        const balances = { merchant: TO_MERCHANT_UNITS, held: 0n };
        expect(await handle.balancesOf(payment)).toMatchObject(balances);
        expect(await read(payment)).toMatchObject({
          status: 'paid',
          receivedUnits: EXPECTED_UNITS,
          forwardedUnits: TO_MERCHANT_UNITS,
        });
        expect((await handle.observations(payment)).releases).toHaveLength(1);
        expect(await handle.webhooks(payment)).toHaveLength(1);
      }
      return read(payments.at(-1) as Payment);
    },
    /** A rival's release, in the next block. */
    releaseAsRival: (payment: Payment, gas = 3_000_000) =>
      chain.anvil.rpc('eth_sendTransaction', [
        {
          from: rival,
          to: payment.factory,
          data: encodeRelayCall(forwardOf(payment)),
          gas: `0x${gas.toString(16)}`,
        },
      ]) as Promise<string>,
    /** The process is killed and started again, with another relayer key if one is given: only the database stays. */
    async crash(newRelayerKey = relayerKey) {
      relayerKey = newRelayerKey;
      await parts.store.close();
      parts = await openParts();
    },
    async close() {
      await parts.store.close();
      await database.remove();
    },
  };
  return handle;
}

export function forwardOf(payment: Payment): RelayCall {
  return {
    kind: 'forward',
    factory: payment.factory,
    terms: [termsOf(payment)],
  };
}

export function depositAddressesOf(
  chain: LocalChain,
  deployed: { readonly factory: Address; readonly implementation: Address },
) {
  return createDepositAddressCalculator({ chainId: chain.anvil.chainId, ...deployed });
}

/** A provider that says what the test wants. */
function createSessionDouble(nowMs: () => number) {
  const started: string[] = [];
  const double = {
    started,
    /** What the next session quotes and how long it can be used. */
    quotedUnits: null as bigint | null,
    lifetimeMs: HOUR_MS,
    /** Runs while the provider is answering. */
    meanwhile: async () => {},
    adapter: {
      id: 'wert',
      quote: async () => ({ chargedCents: 25_00, deliveryUnits: null, minimumUsdCents: null }),
      async startSession(request): Promise<StartedSession> {
        started.push(request.paymentId);
        await double.meanwhile();
        return {
          redirectUrl: `https://wert.example.com/${started.length}`,
          providerReference: `reference ${started.length}`,
          expiresAtMs: nowMs() + double.lifetimeMs,
          quotedUnits: double.quotedUnits,
          chargedCents: request.amountCents,
        };
      },
    } satisfies ProviderAdapter as ProviderAdapter,
  };
  return double;
}
