import { expect, it } from 'vitest';
import { ChainUnavailableError } from './chain.ts';
import { withCircuit } from './endpoint-circuit.ts';
import { AnswerTooSlowError, type JsonRpcClient } from './json-rpc.ts';
import { checkAnswers, type NodeClient } from './node-answers.ts';

/** A client whose answers the test decides, behind a circuit with a clock of its own. */
function createStage() {
  const stage = {
    nowMs: 0,
    asked: 0,
    failure: null as Error | null,
  };
  const answer = async <T>(result: T): Promise<T> => {
    stage.asked++;
    if (stage.failure !== null) throw stage.failure;
    return result;
  };
  const rpc: JsonRpcClient = {
    label: 'node',
    call: () => answer('0x89'),
    callBatch: () => answer([]),
    close: async () => {},
  };
  return { stage, circuit: withCircuit(checkAnswers(rpc), () => stage.nowMs) };
}

const timeout = new AnswerTooSlowError('node did not answer');
const call = (rpc: NodeClient) => rpc.call('eth_chainId', []);

it('asks an endpoint that timed out no more until a probe behind a later call was answered', async () => {
  const { stage, circuit } = createStage();
  stage.failure = timeout;
  await expect(call(circuit)).rejects.toBe(timeout);
  expect(circuit.isOpen).toBe(true);
  await expect(call(circuit)).rejects.toThrow(/is not asked for a while/);
  await expect(circuit.callBatch([])).rejects.toThrow(ChainUnavailableError);
  expect(stage.asked).toBe(1);

  stage.failure = null;
  stage.nowMs += 5_000;
  await expect(call(circuit)).rejects.toThrow(/is not asked for a while/);
  expect(stage.asked).toBe(2);
  expect(circuit.isOpen).toBe(false);
  await expect(call(circuit)).resolves.toBe(137);
});

it('waits twice as long after each probe that times out, 30 seconds at most', async () => {
  const { stage, circuit } = createStage();
  stage.failure = timeout;
  await expect(call(circuit)).rejects.toBe(timeout);
  const probedAtMs: number[] = [];
  for (stage.nowMs = 500; stage.nowMs <= 100_000; stage.nowMs += 500) {
    const { asked } = stage;
    await expect(call(circuit)).rejects.toThrow();
    if (stage.asked > asked) probedAtMs.push(stage.nowMs);
    // The probe ends by itself, and no caller waits for it.
    await new Promise(setImmediate);
  }
  expect(probedAtMs).toEqual([5_000, 15_000, 35_000, 65_000, 95_000]);
});

it('stays closed for failures that are quick', async () => {
  const { stage, circuit } = createStage();
  stage.failure = new ChainUnavailableError('connection refused');
  for (let attempt = 0; attempt < 5; attempt++) await expect(call(circuit)).rejects.toThrow('refused');
  expect(stage.asked).toBe(5);
  expect(circuit.isOpen).toBe(false);
});
