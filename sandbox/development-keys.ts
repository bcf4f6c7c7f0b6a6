import { createECDH, createHmac, createPrivateKey, type KeyObject } from 'node:crypto';
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { type Address, checksumAddress } from '../src/payment/address.ts';

export interface DevelopmentKey {
  readonly address: Address;
  readonly privateKey: `0x${string}`;
}

function keyOf(privateKey: `0x${string}`): DevelopmentKey {
  return { address: checksumAddress(privateKeyToAddress(privateKey).slice(2)), privateKey };
}

/**
 * Returns the keys of the sandbox. Each sender has its own, because two senders with one key would collide on nonces.
 * These are the well-known keys of the mnemonic that all local development chains use ("test test … junk"). They are
 * hard-coded, because deriving them would take a fifth of the sandbox's CPU time at its start.
 */
export function developmentKeys() {
  return {
    /** Deploys the contracts, and has every role in the test USDC. */
    deployer: keyOf('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'),
    relayer: keyOf('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'),
    /** Treasury of the simulated on-ramps, which mints the delivered USDC. */
    minter: keyOf('0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a'),
    feeWallet: keyOf('0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6'),
    merchant: keyOf('0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a'),
    customer: keyOf('0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba'),
    /** Deploys the token that is delivered by mistake. */
    bridge: keyOf('0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e'),
  } as const;
}

export type DevelopmentKeys = ReturnType<typeof developmentKeys>;

interface LocalTransaction {
  readonly nonce: number;
  /** Absent for a deployment. */
  readonly to?: Address;
  readonly data: `0x${string}`;
  readonly gas?: bigint;
}

/** Signs a transaction for the local chain, with fees high enough to be mined immediately. */
export function signTransaction(
  { privateKey }: DevelopmentKey,
  { gas = 200_000n, ...transaction }: LocalTransaction,
): Promise<`0x${string}`> {
  const [maxFeePerGas, maxPriorityFeePerGas] = [10n ** 11n, 10n ** 9n];
  const fees = {
    type: 'eip1559',
    chainId: SANDBOX_CHAIN_ID,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
  } as const;
  return privateKeyToAccount(privateKey).signTransaction({ ...transaction, ...fees });
}

/** Derives 32 bytes for one purpose, as 64 hex digits that do not reveal the key. */
export function deriveHex(key: string, purpose: string): string {
  return createHmac('sha256', key).update(purpose).digest('hex');
}

/** PKCS #8 header that precedes the 32 bytes of an Ed25519 key. */
const ED25519_PREFIX = '302e020100300506032b657004220420';

export function ed25519KeyOf(seedHex: string): KeyObject {
  const der = Buffer.from(ED25519_PREFIX + seedHex, 'hex');
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

/** Creates a secp256k1 key from its private number in hex. Nearly every 32-byte number is valid. */
export function secp256k1KeyOf(numberHex: string): KeyObject {
  const curve = createECDH('secp256k1');
  curve.setPrivateKey(numberHex, 'hex');
  const point = curve.getPublicKey();
  const encoded = (bytes: Buffer) => bytes.toString('base64url');
  return createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'secp256k1',
      d: encoded(Buffer.from(numberHex, 'hex')),
      x: encoded(point.subarray(1, 33)),
      y: encoded(point.subarray(33)),
    },
  });
}

/** Chain id of local development chains, which no public chain uses. */
export const SANDBOX_CHAIN_ID = 31_337;
