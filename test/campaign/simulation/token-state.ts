import type { Address, DepositTerms } from '../../../src/payment/address.ts';
import { FORWARDED_TOPIC } from '../../../src/settlement/chain/read-logs.ts';
import { TRANSFER_TOPIC } from '../../../src/settlement/chain/token-reader.ts';

/** Accounts, token and nonces as they are after a block. Addresses are in lower case. */
export interface ChainState {
  readonly balances: Map<string, bigint>;
  readonly blocklisted: Set<string>;
  readonly nonces: Map<string, number>;
  isPaused: boolean;
}

/** What a transaction does once it is in a block. */
export type Action =
  | { readonly kind: 'mint'; readonly to: Address; readonly units: bigint }
  | { readonly kind: 'forward'; readonly terms: readonly DepositTerms[] }
  | { readonly kind: 'blocklist'; readonly account: Address; readonly isOn: boolean }
  | { readonly kind: 'pause'; readonly isOn: boolean }
  /** A transfer of no coins: only its sender's nonce is spent. */
  | { readonly kind: 'nothing' };

/** An event, before it has a place in a block. */
export interface Event {
  readonly address: Address;
  readonly topics: readonly string[];
  readonly data: string;
}

/** The contracts, and the offline calculation of deposit addresses. */
export interface Contracts {
  readonly token: Address;
  readonly factory: Address;
  readonly depositOf: (terms: DepositTerms) => Address;
}

export function emptyState(): ChainState {
  return { balances: new Map(), blocklisted: new Set(), nonces: new Map(), isPaused: false };
}

export function copyState(state: ChainState): ChainState {
  return {
    balances: new Map(state.balances),
    blocklisted: new Set(state.blocklisted),
    nonces: new Map(state.nonces),
    isPaused: state.isPaused,
  };
}

export function balanceOf(state: ChainState, account: string): bigint {
  return state.balances.get(account.toLowerCase()) ?? 0n;
}

/** Why the token would refuse a transfer, in its own words, or null. */
export function refusalOf(state: ChainState, from: string, to: string, units: bigint): string | null {
  if (state.isPaused) return 'Pausable: paused';
  const isListed = [from, to].some((account) => state.blocklisted.has(account.toLowerCase()));
  if (isListed) return 'Blacklistable: account is blacklisted';
  return balanceOf(state, from) < units ? 'ERC20: transfer amount exceeds balance' : null;
}

/** Changes the state as the action does, and returns its events; a refused action changes nothing. */
export function applyAction(state: ChainState, contracts: Contracts, action: Action): Event[] {
  switch (action.kind) {
    case 'mint': {
      const isRefused = state.isPaused || state.blocklisted.has(action.to.toLowerCase());
      if (isRefused) return [];
      add(state, action.to, action.units);
      return [transferEvent(contracts, NOBODY, action.to, action.units)];
    }
    case 'forward':
      return action.terms.flatMap((terms) => forwardOne(state, contracts, terms));
    case 'blocklist':
      if (action.isOn) state.blocklisted.add(action.account.toLowerCase());
      else state.blocklisted.delete(action.account.toLowerCase());
      return [];
    case 'pause':
      state.isPaused = action.isOn;
      return [];
    case 'nothing':
      return [];
  }
}

const NOBODY = '0x0000000000000000000000000000000000000000';

/** As contracts/src/DepositFactory.sol does: skip what is empty, the merchant first, a refused fee to the merchant. */
function forwardOne(state: ChainState, contracts: Contracts, terms: DepositTerms): Event[] {
  const deposit = contracts.depositOf(terms);
  const units = balanceOf(state, deposit);
  if (units === 0n || refusalOf(state, deposit, terms.merchant, units) !== null) return [];

  const wanted = (units * BigInt(terms.feeBasisPoints)) / 10_000n;
  const fee = refusalOf(state, deposit, terms.feeWallet, wanted) === null ? wanted : 0n;
  const toMerchant = units - fee;
  add(state, deposit, -units);
  add(state, terms.merchant, toMerchant);
  add(state, terms.feeWallet, fee);
  return [
    transferEvent(contracts, deposit, terms.merchant, toMerchant),
    ...(fee > 0n ? [transferEvent(contracts, deposit, terms.feeWallet, fee)] : []),
    {
      address: contracts.factory,
      topics: [FORWARDED_TOPIC, topicOf(deposit), terms.reference, topicOf(terms.merchant)],
      data: `0x${wordOf(toMerchant)}${wordOf(fee)}`,
    },
  ];
}

function add(state: ChainState, account: string, units: bigint): void {
  state.balances.set(account.toLowerCase(), balanceOf(state, account) + units);
}

function transferEvent({ token }: Contracts, from: string, to: string, units: bigint): Event {
  return { address: token, topics: [TRANSFER_TOPIC, topicOf(from), topicOf(to)], data: `0x${wordOf(units)}` };
}

function topicOf(address: string): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
}

export function wordOf(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}
