import type { ExternalServices } from '../../../src/app/external-services.ts';
import { createLog } from '../../../src/app/log.ts';
import { createMetrics } from '../../../src/app/metrics.ts';
import type { Store } from '../../../src/app/store/store.ts';
import type { WorkerParts } from '../../../src/app/worker-parts.ts';
import { termsOf } from '../../../src/payment/address.ts';
import { createIpnTokens } from '../../../src/payment/ipn-token.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import { createPaymentIdGenerator } from '../../../src/payment/payment-id.ts';
import { createSecretBox } from '../../../src/platform/secret-box.ts';
import { createChainReader } from '../../../src/settlement/chain/create-chain-reader.ts';
import { type ChainEndpoint, createChainEndpoints } from '../../../src/settlement/chain/endpoint-rotation.ts';
import { createRelayer } from '../../../src/settlement/chain/relayer.ts';
import { openSigner } from '../../../src/settlement/chain/signer.ts';
import { createTokenReader } from '../../../src/settlement/chain/token-reader.ts';
import type { LocalChain } from '../../../test/chain/local-chain.ts';
import { anvilKeys } from '../../../test/support/anvil.ts';
import { benchPayment } from '../bench-payment.ts';
import { countedAddress } from '../counted-address.ts';
import { benchSecret, createStubWorld } from '../servers/stub-world.ts';

/** As on Polygon. The newest final block is `FINAL_AFTER_BLOCKS` behind the newest. */
export const BLOCK_SECONDS = 2;
export const FINAL_AFTER_BLOCKS = 2;
export const DEPOSIT_UNITS = 12_000_000n;
export const MERCHANTS = 20;

export function endpointsOf({ anvil }: LocalChain): readonly ChainEndpoint[] {
  return createChainEndpoints({ urls: [anvil.url], chainId: anvil.chainId });
}

/** The local chain as the worker sees it, with one relayer key. */
export function settlementWorld(chain: LocalChain, endpoints: readonly ChainEndpoint[]): ExternalServices {
  const { anvil, token, factory, implementation } = chain;
  const stub = createStubWorld();
  return {
    ...stub,
    settlements: [{ ...stub.settlements[0], chainId: anvil.chainId, token, factory, implementation }],
    chain: createChainReader({ endpoints, sources: { token, factories: [factory] } }),
    token: createTokenReader({ endpoints, token }),
    relayers: [createRelayer({ endpoints, chainId: anvil.chainId, signer: openSigner(anvilKeys[1]) })],
  };
}

/** Dependencies of the worker's settlement tasks. */
export function settlementParts(
  store: Store,
  external: ExternalServices,
  { deliver, wake }: Pick<WorkerParts, 'deliver' | 'wake'>,
): WorkerParts {
  return {
    config: { dataDir: '.', chain: null, retention: { auditDays: null, customerDataDays: null } },
    store,
    external,
    tokens: createIpnTokens(benchSecret),
    signingSecrets: { open: () => null },
    mailer: null,
    notifier: {
      box: createSecretBox('notification channels', 'never used here, and long enough'),
      send: async () => ({ result: 'sent' }),
    },
    baseUrl: 'http://localhost',
    deliver,
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    expiryMs: 168 * 3_600_000,
    wake,
    withRelayerLease: async () => {},
    log: createLog('silent'),
    metrics: createMetrics(),
  };
}

/** Stores payments to the merchants in turn. */
export async function createPayments(
  chain: LocalChain,
  store: Store,
  count: number,
): Promise<readonly Payment[]> {
  const newPaymentId = createPaymentIdGenerator(Date.now);
  const { currentFingerprint: tokenFingerprint } = createIpnTokens(benchSecret);
  const payments = Array.from({ length: count }, (_, index) => {
    const paymentId = newPaymentId();
    const payoutAddress = countedAddress(index % MERCHANTS);
    const payment = benchPayment({
      paymentId,
      payoutAddress,
      depositAddress: payoutAddress,
      callbackUrl: 'https://shop.example.com/hook',
      email: 'customer@mail.example.com',
    });
    const own = { ...payment, tokenFingerprint, chainId: chain.anvil.chainId, factory: chain.factory };
    return { ...own, depositAddress: chain.depositOf(termsOf(own)) };
  });
  await Promise.all(payments.map((payment) => store.payments.createPayment(payment, null)));
  return payments;
}
