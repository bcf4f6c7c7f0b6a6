import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallRevertedError, ChainUnavailableError } from './chain.ts';
import type { ChainEndpoint, EndpointRotation } from './endpoint-rotation.ts';
import { type EstimatedCall, estimateGasLimit, limitOf, readEstimate } from './gas.ts';
import { JsonRpcAnswerError } from './json-rpc.ts';

const FROM = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const TO = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
const call: EstimatedCall = { from: FROM, to: TO, data: '0x1234' };
const MAXIMUM_GAS = 2n ** 25n;

function reverted(reason = 'blocklisted'): JsonRpcAnswerError {
  const answer = { code: 3, message: `execution reverted: ${reason}`, data: '0x' };
  return new JsonRpcAnswerError('rpc.example', 'eth_estimateGas', answer);
}

/** Creates hosts in order of rotation, each with its answer to an estimate: gas or an error. */
function hosts(...answers: readonly (bigint | Error)[]) {
  const asked: unknown[][] = [];
  const endpoints = answers.map((answer) => {
    const rpc = {
      async call(...request: unknown[]) {
        asked.push(request);
        if (answer instanceof Error) throw answer;
        return answer;
      },
    };
    return { rpc } as unknown as ChainEndpoint;
  });
  const rotation = {
    useAny: (use: (endpoint: ChainEndpoint) => Promise<unknown>) => use(endpoints[0] as ChainEndpoint),
    // Asks one host after the other until two agree.
    async useEach(
      use: (endpoint: ChainEndpoint) => Promise<unknown>,
      isSame: (one: unknown, other: unknown) => boolean,
    ) {
      const heard: unknown[] = [];
      for (const endpoint of endpoints) {
        const answer = await use(endpoint);
        const isConfirmed = heard.some((other) => isSame(answer, other));
        heard.push(answer);
        if (isConfirmed) break;
      }
      return heard;
    },
  } as unknown as EndpointRotation;
  const estimate = (figure = 1_000n) => estimateGasLimit(rotation, endpoints.length, call, figure);
  return { asked, endpoints: endpoints as [ChainEndpoint], estimate };
}

describe('one host’s word', () => {
  it('is asked for at the newest block, with or without a recipient', async () => {
    const { asked, endpoints } = hosts(21_000n);
    expect(await readEstimate(endpoints[0], call)).toBe(21_000n);
    await readEstimate(endpoints[0], { ...call, to: null });
    expect(asked).toEqual([
      ['eth_estimateGas', [{ from: FROM, to: TO, data: '0x1234' }, 'latest']],
      ['eth_estimateGas', [{ from: FROM, data: '0x1234' }, 'latest']],
    ]);
  });

  it('that the call would fail has the reason', async () => {
    const cause = reverted();
    const estimate = await readEstimate(hosts(cause).endpoints[0], call);
    expect(estimate).toEqual(new CallRevertedError('the call would fail: blocklisted', { cause }));
    expect((estimate as Error).cause).toBe(cause);
  });

  it('of more gas than a transaction may use is that the call would fail', async () => {
    expect(await readEstimate(hosts(MAXIMUM_GAS).endpoints[0], call)).toBe(MAXIMUM_GAS);
    const message = 'the call needs 33554433 gas, a transaction may use 33554432';
    expect(await readEstimate(hosts(MAXIMUM_GAS + 1n).endpoints[0], call)).toEqual(
      new CallRevertedError(message),
    );
  });

  it('is none where the host fails for another reason', async () => {
    const broken = new ChainUnavailableError('timeout');
    await expect(readEstimate(hosts(broken).endpoints[0], call)).rejects.toBe(broken);
  });

  it('gives a limit a quarter above it, or the reason why the call would fail', () => {
    expect(limitOf(1_000n)).toBe(1_250n);
    const failure = new CallRevertedError('the call would fail');
    expect(() => limitOf(failure)).toThrow(failure);
  });
});

describe('the gas limit of a call', () => {
  it.each([499n, 500n, 3_000n, 3_001n, MAXIMUM_GAS])('follows the only host, at %i gas', async (gas) => {
    expect(await hosts(gas).estimate()).toBe(limitOf(gas));
  });

  it('fails with the only host', async () => {
    await expect(hosts(reverted()).estimate()).rejects.toThrow('the call would fail: blocklisted');
  });

  it.each([500n, 3_000n])('follows the first of several hosts alone, at a plausible %i gas', async (gas) => {
    const { asked, estimate } = hosts(gas, 700n);
    expect(await estimate()).toBe(limitOf(gas));
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['too little', 499n, [499n, 800n], 800n],
    ['too much', 3_001n, [3_001n, 800n], 800n],
    ['neither plausible', 1n, [1n, 100_000n], 1_000n],
    ['too little twice', 400n, [400n, 400n], 400n],
    ['too much twice, to an eighth', 8_000n, [8_000n, 7_000n], 8_000n],
    ['too much twice, not to an eighth', 8_000n, [8_000n, 6_999n], 1_000n],
    ['too much, and others agree on less', 9_000n, [9_000n, 900n, 850n], 900n],
    ['too little, and one would fail', 1n, [1n, reverted(), 900n], 900n],
    ['too little, and the only other would fail', 1n, [1n, reverted()], 1_000n],
    ['that it would fail, and another a plausible figure', 0n, [reverted(), 900n], 900n],
    ['too little, and others agree on less than it, in whatever order', 1n, [1n, 850n, 900n], 900n],
    ['too much, and two of four agree', 9_999n, [9_999n, 700n, 2_000n, 2_200n], 2_200n],
    ['too much, and the others say too little or a plausible figure', 9_999n, [9_999n, 1n, 2_000n], 2_000n],
    ['nothing at all, and the others do not agree', 0n, [0n, 2_000n, 700n], 2_000n],
    ['nothing at all, and the only other would fail', 0n, [0n, reverted()], 1_000n],
  ] as const)('where the first says %s (%i)', async (_what, _first, answers, gas) => {
    expect(await hosts(...answers).estimate()).toBe(limitOf(gas));
  });

  it.each([
    ['agree on the gas to an eighth', [9_999n, 1n, 7_000n, 8_000n, 5n], 4],
    ['agree on the gas to an eighth, the larger first', [9_999n, 1n, 8_000n, 7_000n, 5n], 4],
    ['do not agree on the gas', [9_999n, 1n, 6_999n, 8_000n, 5n], 5],
    ['do not agree on the gas, the larger first', [1n, 8_000n, 6_999n, 5n], 4],
    ['agree that it would fail', [9_999n, reverted(), reverted(), 900n], 3],
    ['do not agree that it would fail', [9_999n, reverted(), 900n], 3],
  ] as const)('asks hosts until two of them %s', async (_what, answers, asked) => {
    const world = hosts(...answers);
    await world.estimate().catch(() => null);
    // Plus one, because the first host is asked once before all hosts are.
    expect(world.asked).toHaveLength(asked + 1);
  });

  it('fails where two hosts say so, whatever a third says', async () => {
    const answers = [reverted('one'), 900n, reverted('two')];
    await expect(hosts(...answers).estimate()).rejects.toThrow(CallRevertedError);
  });

  it('is unknown where one host says that the call would fail, and no other answers', async () => {
    const failure = reverted();
    const rotation = {
      useAny: async (use: (endpoint: ChainEndpoint) => Promise<unknown>) => use(hosts(failure).endpoints[0]),
      useEach: async (use: (endpoint: ChainEndpoint) => Promise<unknown>) => [
        await use(hosts(failure).endpoints[0]),
      ],
    } as unknown as EndpointRotation;
    const limit = estimateGasLimit(rotation, 2, call, 1_000n);
    await expect(limit).rejects.toThrow(
      new ChainUnavailableError('no second host confirms that the call would fail: blocklisted'),
    );
    await expect(limit).rejects.toMatchObject({ cause: expect.any(Error) });
  });

  it('stays plausible, whatever one of three hosts says', async () => {
    const honest = fc.bigInt(500n, 3_000n);
    const lie = fc.oneof(fc.bigInt(0n, MAXIMUM_GAS * 2n), fc.constant(reverted()));
    await fc.assert(
      fc.asyncProperty(honest, honest, lie, fc.nat(2), async (one, other, lied, position) => {
        const answers: (bigint | Error)[] = [one, other];
        answers.splice(position, 0, lied);
        const limit = await hosts(...answers).estimate();
        // A false estimate within an eighth of an honest one counts, even if the false one is higher.
        expect(limit >= limitOf(500n) && limit <= limitOf((3_000n * 8n) / 7n)).toBe(true);
      }),
    );
  });
});
