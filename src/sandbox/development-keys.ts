import { mnemonicToAccount } from 'viem/accounts';
import { bytesToHex } from 'viem/utils';
import { type Address, checksumAddress } from '../domain/payout-address.ts';

/** The mnemonic that every local development chain knows: its keys are public and worth nothing anywhere else. */
const DEVELOPMENT_MNEMONIC = 'test test test test test test test test test test test junk';

/** One of the accounts that the local chain creates with money of its own. */
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
 * Who is who in the sandbox. Each has a key of its own, because two senders with one key would take each other's
 * nonces.
 */
export function deriveDevelopmentKeys() {
  return {
    /** Deploys the contracts and holds every role of the test USDC. */
    deployer: derive(0),
    /** Sends the releases. */
    relayer: derive(1),
    /** The simulated on-ramps' treasury: mints what they deliver. */
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
