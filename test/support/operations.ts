import { afterEach, beforeEach } from 'vitest';
import { createSandboxOperations } from '../../sandbox/sandbox-operations.ts';
import type { Store } from '../../src/app/store/store.ts';
import { runOperation } from '../../src/cli/control-socket.ts';
import type {
  DirectPayments,
  OperationArguments,
  OperationsContext,
  SandboxOperations,
} from '../../src/cli/operations-context.ts';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import type { TestPayments } from '../../src/payment/test-payments.ts';
import { createPictures } from '../../src/platform/pictures.ts';
import { providerDescriptions } from '../../src/providers/adapters/providers.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';
import { createCallbackGuard } from '../../src/webhooks/callback-host.ts';
import { NOW_MS } from '../store/fixtures.ts';
import { createTestDatabase } from './test-store.ts';

export const ADDRESS = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';

/** What the operations of the command line need over this store; no provider is configured. */
export function operationsContext(store: Store): OperationsContext {
  return {
    ...store,
    callbacks: createCallbackGuard({
      allowedHosts: new Set(),
      own: { hostname: 'pay.example.com', port: 443, path: '' },
    }),
    providerDescriptions,
    directory: { adapters: new Map(), settings: store.providers },
    nowMs: Date.now,
    pictures: createPictures(),
    checkEndpoint: null,
    chain: null,
    baseUrl: 'https://pay.example.com',
    adminBaseUrl: 'https://admin.example.com',
    rescue: null,
    direct: null,
    sandboxOperations: null,
    isTestMode: false,
  };
}

/** A store of its own, and the operations of the command line over it. */
export interface TestOperations {
  readonly store: Store;
  /** To be changed by a test. */
  readonly context: OperationsContext;
  run<T = Record<string, unknown>>(name: string, args?: OperationArguments): Promise<T>;
  giveAccount(name?: string): Promise<string>;
}

/** Opens them before each test of the file, hands them to `take`, and closes them after the test. */
export function useOperations(take: (operations: TestOperations) => unknown): void {
  let close = async () => {};
  beforeEach(async () => {
    const database = await createTestDatabase();
    const store = await database.open();
    close = async () => {
      await store.close();
      await database.remove();
    };
    const cannot = () => Promise.reject(new Error('not asked here'));
    const moonpay: ProviderAdapter = { id: 'moonpay', quote: cannot, startSession: cannot };
    const adapters = new Map<ProviderId, ProviderAdapter>([['moonpay', moonpay]]);
    const directory = { adapters, settings: store.providers };
    const context = { ...operationsContext(store), directory, nowMs: () => NOW_MS };
    const run = <T>(name: string, args: OperationArguments = {}) =>
      runOperation(context, name, args) as Promise<T>;
    const giveAccount = async (name = 'Shop') =>
      (await run<{ account_id: string }>('account create', { name })).account_id;
    take({ store, context, run, giveAccount });
  });
  afterEach(() => close());
}

export function sandboxThat(can: Partial<TestPayments>): SandboxOperations {
  const cannot = () => Promise.reject(new Error('not asked here'));
  const testPayments = {
    pay: cannot,
    transfer: cannot,
    setFault: cannot,
    setProviderFault: cannot,
    simulateOutcome: cannot,
    readEvents: cannot,
    defaults: { accountId: 'acc_demo', callbackUrl: 'https://idle.example.com/hook' },
    ...can,
  };
  return createSandboxOperations(testPayments, { refunds: { findRefund: cannot } });
}

/** What a running server has; it creates nothing here. */
export const direct: DirectPayments = {
  create: () => Promise.reject(new Error('not asked here')),
  createCheckout: () => Promise.reject(new Error('not asked here')),
  ipnTokenOf: () => 'ipn_test',
  token: ADDRESS,
  tokenFingerprint: 'abc_-1',
};
