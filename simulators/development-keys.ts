import { createECDH, createHmac, createPrivateKey, type KeyObject } from 'node:crypto';
import { mnemonicToAccount } from 'viem/accounts';
import { bytesToHex } from 'viem/utils';
import { type Address, checksumAddress } from '../src/domain/payout-address.ts';

/** The mnemonic of every local development chain: its keys are public and worthless elsewhere. */
const DEVELOPMENT_MNEMONIC = 'test test test test test test test test test test test junk';

/** One of the accounts that the local chain funds at creation. */
export interface DevelopmentKey {
  readonly address: Address;
  readonly privateKey: `0x${string}`;
}

function derive(addressIndex: number): DevelopmentKey {
  const account = mnemonicToAccount(DEVELOPMENT_MNEMONIC, { addressIndex });
  const privateKey = account.getHdKey().privateKey;
  if (privateKey === null) throw new Error('a development key could not be derived');
  return { address: checksumAddress(account.address.slice(2)), privateKey: bytesToHex(privateKey) };
}

/**
 * The accounts of the sandbox. Each has its own key, because two senders with one key would take each other's nonces.
 */
export function deriveDevelopmentKeys() {
  return {
    /** Deploys the contracts and holds every role of the test USDC. */
    deployer: derive(0),
    /** Sends the releases. */
    relayer: derive(1),
    /** The simulated on-ramps' treasury: mints the delivered USDC. */
    minter: derive(2),
    /** Receives the service's fees. */
    feeWallet: derive(3),
    /** The demo merchant's payout wallet. */
    merchant: derive(4),
    /** A customer's wallet, with test USDC. */
    customer: derive(5),
    /** Deploys the token that is delivered by mistake. */
    bridge: derive(6),
  } as const;
}

export type DevelopmentKeys = ReturnType<typeof deriveDevelopmentKeys>;

/** 32 bytes for one purpose, as 64 hex digits, that reveal nothing of the key they come from. */
export function deriveHex(key: string, purpose: string): string {
  return createHmac('sha256', key).update(purpose).digest('hex');
}

/** The PKCS #8 prefix of the 32 bytes of an Ed25519 key. */
const ED25519_PREFIX = '302e020100300506032b657004220420';

/** The Ed25519 key with this seed. */
export function ed25519KeyOf(seedHex: string): KeyObject {
  const der = Buffer.from(ED25519_PREFIX + seedHex, 'hex');
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

/** The key on secp256k1 with this number, which nearly every number of 32 bytes is. */
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

/** The chain id of every local chain; no real chain has it. */
export const SANDBOX_CHAIN_ID = 31_337;
