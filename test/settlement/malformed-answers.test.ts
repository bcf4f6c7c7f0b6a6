import { expect, it } from 'vitest';
import { TRANSFER_TOPIC } from '../../src/settlement/chain/token-reader.ts';
import type { AlteringProxy } from '../chain/altering-proxy.ts';
import { EXPECTED_UNITS, useSettlement } from './harness.ts';
import { useReadThrough } from './proxies.ts';

/** What one of three hosts says that no node may say. The others confirm each other, so nothing waits for it. */

const stage = useSettlement();
const { chain, settlement } = stage;
const hosts = useReadThrough(stage);

type Alter = NonNullable<AlteringProxy['alter']>;
const answerTo =
  (method: string, change: (result: Record<string, string>) => unknown): Alter =>
  async (call, ask) => {
    const answer = await ask(call);
    if (call.method !== method || answer.result === null) return answer;
    return { result: change(answer.result as Record<string, string>) };
  };
const timesOf = (factor: bigint) => (result: Record<string, string>) => ({
  ...result,
  timestamp: `0x${(BigInt(result['timestamp'] as string) * factor).toString(16)}`,
});
const faults: Readonly<Record<string, Alter>> = {
  'a list of null for logs': answerTo('eth_getLogs', () => [null]),
  'a number for a topic': answerTo('eth_getLogs', () => [{ topics: [TRANSFER_TOPIC, null, 5], data: '0x' }]),
  'block times in milliseconds': answerTo('eth_getBlockByNumber', timesOf(1_000n)),
  'block times in microseconds': answerTo('eth_getBlockByNumber', timesOf(1_000_000n)),
};

it.each(
  Object.entries(faults).flatMap(([name, alter]) => [0, 1, 2].map((place) => [name, place, alter] as const)),
)('%s from host %i of three delays no payment, and the host is named', async (_, place, alter) => {
  await hosts.readThrough(3);
  const proxy = hosts.proxy(place);
  proxy.alter = alter;
  const payment = await settlement.create();
  await settlement.deposit(payment, EXPECTED_UNITS);
  for (let round = 0; round < 8 && (await settlement.state(payment)) !== 'paid/completed'; round++) {
    await settlement.relay();
    await settlement.mine();
    await settlement.watchOnce();
  }
  expect(await settlement.state(payment)).toBe('paid/completed');
  const { host } = new URL(proxy.url);
  expect(new Set(hosts.seen.malformed.map((problem) => problem.split(' ')[0]))).toEqual(new Set([host]));
  expect(hosts.seen.endpoints[place]?.malformed?.message).toMatch(
    new RegExp(`^${host} answered eth_\\w+ with `),
  );
});

it('a block time that only one of three hosts names is not kept', async () => {
  await hosts.readThrough(3);
  hosts.proxy(0).alter = answerTo('eth_getBlockByNumber', (result) => ({
    ...result,
    timestamp: `0x${(Number(result['timestamp']) + 40_000_000).toString(16)}`,
  }));
  for (let round = 0; round < 4; round++) {
    await settlement.mine();
    await settlement.watchOnce();
  }
  const latest = (await chain.anvil.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  const cursor = await settlement.store.observations.readCursor();
  expect(cursor?.timestampMs).toBeLessThanOrEqual(Number(latest.timestamp) * 1000);
  expect(cursor?.number).toBeGreaterThan((await chain.anvil.blockNumber()) - 4);
});
