import { createSandboxOperations } from '../../sandbox/sandbox-operations.ts';
import type {
  DirectPayments,
  OperationsContext,
  SandboxOperations,
} from '../../src/cli/operations-context.ts';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import type { TestPayments } from '../../src/payment/test-payments.ts';
import { createPictures } from '../../src/platform/pictures.ts';
import { providerDescriptions } from '../../src/providers/adapters/providers.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';
import type { Store } from '../../src/store/store.ts';
import { createCallbackGuard } from '../../src/webhooks/callback-host.ts';
import { NOW_MS } from '../store/fixtures.ts';
import { createTestDatabase } from './test-store.ts';

export const ADDRESS = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';

/** A store of its own, and what the operations of the command line need over it. */
export async function openOperations(): Promise<{
  readonly store: Store;
  readonly context: OperationsContext;
  close(): Promise<void>;
}> {
  const database = await createTestDatabase();
  const store = await database.open();
  const moonpay: ProviderAdapter = {
    id: 'moonpay',
    quote: () => Promise.reject(new Error('not asked here')),
    startSession: () => Promise.reject(new Error('not asked here')),
  };
  const adapters = new Map<ProviderId, ProviderAdapter>([['moonpay', moonpay]]);
  const context: OperationsContext = {
    ...store,
    callbacks: createCallbackGuard({
      allowedHosts: new Set(),
      own: { hostname: 'pay.example.com', port: 443, path: '' },
    }),
    providerDescriptions,
    directory: { adapters, settings: store.providers },
    nowMs: () => NOW_MS,
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
  return {
    store,
    context,
    async close() {
      await store.close();
      await database.remove();
    },
  };
}

/** The sandbox's operations over test payments that can do this much. */
export function sandboxThat(can: Partial<TestPayments>): SandboxOperations {
  const cannot = () => Promise.reject(new Error('not asked here'));
  return createSandboxOperations({
    pay: cannot,
    payRefund: cannot,
    setFault: cannot,
    setProviderFault: cannot,
    simulateOutcome: cannot,
    readEvents: cannot,
    defaults: { accountId: 'acc_demo', callbackUrl: 'https://idle.example.com/hook' },
    ...can,
  });
}

/** What a running server has; it creates nothing here. */
export const direct: DirectPayments = {
  create: () => Promise.reject(new Error('not asked here')),
  createCheckout: () => Promise.reject(new Error('not asked here')),
  ipnTokenOf: () => 'ipn_test',
  token: ADDRESS,
  baseUrl: 'https://pay.example.com',
};
