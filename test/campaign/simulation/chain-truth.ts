import type { Address } from '../../../src/payment/address.ts';
import type { Deposit, Payment, Release } from '../../../src/payment/payment.ts';
import { FORWARDED_TOPIC } from '../../../src/settlement/chain/read-logs.ts';
import { TRANSFER_TOPIC } from '../../../src/settlement/chain/token-reader.ts';
import type { PlacedLog, SimulatedChain } from './simulated-chain.ts';

/** What really happened to a payment, read from the chain itself and by no code of the service. */
export function depositsOf(chain: SimulatedChain, { depositAddress }: Payment): Deposit[] {
  return transfersTo(chain, depositAddress);
}

export function transfersTo(chain: SimulatedChain, address: Address): Deposit[] {
  return logsOf(chain, TRANSFER_TOPIC, 2, address).map((log) => ({
    ...placeOf(log),
    units: BigInt(log.data),
  }));
}

export function releasesOf(chain: SimulatedChain, { depositAddress }: Payment): Release[] {
  return logsOf(chain, FORWARDED_TOPIC, 1, depositAddress).map((log) => ({
    ...placeOf(log),
    toMerchantUnits: BigInt(log.data.slice(0, 66)),
    feeUnits: BigInt(`0x${log.data.slice(66)}`),
  }));
}

export function finalReleases(chain: SimulatedChain, payment: Payment): Release[] {
  return releasesOf(chain, payment).filter(({ blockNumber }) => blockNumber <= chain.finalNumber);
}

function logsOf(chain: SimulatedChain, topic: string, place: number, of: Address): PlacedLog[] {
  const address = `0x${of.slice(2).toLowerCase().padStart(64, '0')}`;
  return chain.blocks.flatMap(({ logs }) =>
    logs.filter(({ topics }) => topics[0] === topic && topics[place] === address),
  );
}

function placeOf({ blockNumber, logIndex, transactionHash }: PlacedLog) {
  return { blockNumber, logIndex, transactionHash };
}
