import { FORWARDED_TOPIC } from '../../../src/settlement/chain/read-logs.ts';
import { TRANSFER_TOPIC } from '../../../src/settlement/chain/token-reader.ts';
import type { Draws } from './draws.ts';
import type { Mood } from './node-mood.ts';
import type { Block, PlacedLog } from './simulated-chain.ts';
import { type Contracts, wordOf } from './token-state.ts';

/** The parameter of `eth_getLogs`, as far as it is used. */
export interface LogFilter {
  readonly fromBlock: string;
  readonly toBlock: string;
  readonly address: string | readonly string[];
  readonly topics: readonly (string | null | readonly string[])[];
}

/** The node's answer: what matches in the blocks it has, as its mood bends it. */
export function findLogs(
  { blocks, contracts }: { readonly blocks: readonly Block[]; readonly contracts: Contracts },
  filter: LogFilter,
  mood: Mood,
  draws: Draws,
): unknown[] {
  const matching = blocks
    .slice(Number(filter.fromBlock), Number(filter.toBlock) + 1)
    .flatMap(({ number, logs }) => [...logs, ...fabricatedLogs(mood, contracts, number)])
    .filter((log) => matches(log, filter));
  return bend(matching, (blocks.at(-1) as Block).number, mood, draws).map(show);
}

function matches(log: PlacedLog, { address, topics }: LogFilter): boolean {
  const addresses = [address].flat().map((one) => one.toLowerCase());
  return (
    addresses.includes(log.address.toLowerCase()) &&
    topics.every((wanted, index) => wanted === null || [wanted].flat().includes(log.topics[index] ?? ''))
  );
}

function bend(logs: PlacedLog[], latest: number, mood: Mood, draws: Draws): PlacedLog[] {
  switch (mood.kind) {
    case 'delayed logs':
      return logs.filter(({ blockNumber }) => blockNumber <= latest - mood.blocks);
    case 'dropped logs':
      return logs.filter(() => draws.chance(50));
    case 'omitted logs':
      return logs.filter(({ transactionHash }) => parityOf(transactionHash) !== mood.parity);
    case 'duplicated logs':
      return logs.flatMap((log) => (draws.chance(50) ? [log, log] : [log]));
    case 'reordered logs':
      return draws.shuffled(logs);
    case 'lying hashes':
      return logs.map((log) => (log.blockNumber < mood.fromBlock ? log : doubled(log)));
    default:
      return logs;
  }
}

function parityOf(transactionHash: string): number {
  // Simulated hashes differ in their first digits.
  return Number(transactionHash.slice(0, 10)) % 2;
}

/** A deposit and its release that never were. */
function fabricatedLogs(mood: Mood, { token, factory }: Contracts, blockNumber: number): PlacedLog[] {
  if (mood.kind !== 'fabricated logs' || mood.blockNumber !== blockNumber) return [];
  const { units, transactionHash } = mood;
  const deposit = `0x${mood.deposit.slice(2).toLowerCase().padStart(64, '0')}`;
  const other = `0x${'12'.padStart(64, '0')}`;
  const place = { blockNumber, transactionHash };
  return [
    {
      ...place,
      address: token,
      topics: [TRANSFER_TOPIC, other, deposit],
      data: `0x${wordOf(units)}`,
      logIndex: 9_000,
    },
    {
      ...place,
      address: factory,
      topics: [FORWARDED_TOPIC, deposit, other, other],
      data: `0x${wordOf(units)}${wordOf(0n)}`,
      logIndex: 9_001,
    },
  ];
}

function doubled(log: PlacedLog): PlacedLog {
  const words = log.data.slice(2).match(/.{64}/g) ?? [];
  return { ...log, data: `0x${words.map((word) => wordOf(BigInt(`0x${word}`) * 2n)).join('')}` };
}

function show({ address, topics, data, blockNumber, logIndex, transactionHash }: PlacedLog): unknown {
  return {
    address: address.toLowerCase(),
    topics,
    data,
    blockNumber: `0x${blockNumber.toString(16)}`,
    logIndex: `0x${logIndex.toString(16)}`,
    transactionHash,
  };
}
