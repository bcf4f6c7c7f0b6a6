import type { FastifyInstance } from 'fastify';
import type { SettlementRecord } from '../settlement/settlement-store.ts';
import type { ErrorBody } from './error-reply.ts';

/** Settlement fields that determine where the money of a payment can go. */
type PublishedSettlement = Omit<SettlementRecord, 'lastStartedAtMs'>;

/** Formulas for recomputing a payment's deposit address from the published values and the payment's own. */
const recomputation = {
  reference: 'keccak256(utf8(payment_id))',
  salt: 'keccak256(abi.encode(uint256 chain_id, address merchant, address fee_wallet, uint16 fee_basis_points, bytes32 reference))',
  init_code_hash:
    'keccak256(0x3d602d80600a3d3981f3363d3d373d3d3d363d73 ‖ implementation ‖ 0x5af43d82803e903d91602b57fd5bf3)',
  deposit_address: 'last 20 bytes of keccak256(0xff ‖ factory ‖ salt ‖ init_code_hash)',
  merchant: 'the payout address given when the payment was created',
  fee_basis_points: 'fee_percent of the payment × 100',
  on_chain: 'factory.depositOf((merchant, fee_basis_points, fee_wallet, reference)) gives the same address',
};

/**
 * Registers `GET /.well-known/card-checkout.json`, with which anyone can verify where the money goes without trusting
 * the service. `settlements` begins with the settlement of new payments.
 */
export function registerWellKnown(
  server: FastifyInstance,
  settlements: readonly [PublishedSettlement, ...PublishedSettlement[]],
): void {
  const [{ chainId, token }] = settlements;
  const document = {
    chain_id: chainId,
    token,
    factories: settlements
      .filter(({ factory }, index) => settlements.findIndex((other) => other.factory === factory) === index)
      .map(({ factory, implementation, factoryCodeHash }) => ({
        address: factory,
        implementation,
        code_hash: factoryCodeHash,
      })),
    fee_wallets: [...new Set(settlements.map(({ feeWallet }) => feeWallet))],
    recompute_deposit_address: recomputation,
  };
  server.get('/.well-known/card-checkout.json', { exposeHeadRoute: true }, async (_request, reply) => {
    // Public data, readable from anywhere, including web pages.
    reply.header('cache-control', 'public, max-age=300').header('access-control-allow-origin', '*');
    return document;
  });
}

/** Problems during which the service still handles requests. */
export const degradations = ['database_lost', 'scan_late', 'factory_unverified', 'signer_failing'] as const;
export type Degradation = (typeof degradations)[number];

/** Whether the service can handle requests. The response is public, so `reason` contains no secrets. */
export type Readiness =
  | { readonly ready: false; readonly reason: string }
  | {
      readonly ready: true;
      readonly degraded?: readonly Degradation[];
      readonly scannedAgeMs?: number | null;
    };

/** Registers `/health/live` (the process responds) and `/health/ready` (it can serve). Neither is rate-limited. */
export function registerHealth(server: FastifyInstance, isReady: () => Readiness): void {
  server.get('/health/live', { exposeHeadRoute: true }, async () => ({ status: 'live' }));
  server.get('/health/ready', { exposeHeadRoute: true }, async (_request, reply) => {
    const found = isReady();
    if (!found.ready) {
      const body: ErrorBody = { error: `The service is not ready: ${found.reason}.` };
      return reply.code(503).send(body);
    }
    const { degraded = [], scannedAgeMs = null } = found;
    return {
      status: 'ready',
      ...(degraded.length > 0 ? { degraded } : {}),
      ...(scannedAgeMs === null ? {} : { scanned_block_age_seconds: Math.round(scannedAgeMs / 1000) }),
    };
  });
}

/** Describes a public chain for wallets (EIP-3085). Only wallets use this RPC URL; the service has its own. */
const network = (chainId: number, chainName: string, rpcUrl: string, explorerUrl: string) => ({
  chainId: `0x${chainId.toString(16)}`,
  chainName,
  nativeCurrency: { name: 'POL', symbol: 'POL', decimals: 18 },
  rpcUrls: [rpcUrl] as const,
  blockExplorerUrls: [explorerUrl] as const,
});

const networks: Readonly<Record<number, ReturnType<typeof network>>> = {
  137: network(137, 'Polygon', 'https://polygon.drpc.org', 'https://polygonscan.com'),
  80002: network(
    80002,
    'Polygon Amoy (test network)',
    'https://polygon-amoy.drpc.org',
    'https://amoy.polygonscan.com',
  ),
};

/** Returns a public chain; null for the sandbox's private network. */
export function publicNetwork(chainId: number) {
  return networks[chainId] ?? null;
}

export function networkName(chainId: number): string {
  return publicNetwork(chainId)?.chainName ?? `the local test network, chain ${chainId}`;
}
