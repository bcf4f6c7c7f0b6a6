import { type Plant, simulated } from './plant.ts';

/** A process that dies between the two has sent what nobody knows of. */
export const broadcastBeforeStored: Plant = {
  fault: 'a broadcast before the raw transaction is stored',
  file: 'src/payments/relay/relay-releases.ts',
  changes: [
    {
      before: '  const nowMs = context.nowMs();\n  const batch = await context.relay.openBatch(',
      after:
        '  await relayer.broadcast(attempt.rawTransaction);\n  const nowMs = context.nowMs();\n  const batch = await context.relay.openBatch(',
    },
    {
      before:
        '  return broadcastOrShrink(context, batch, othersWei);\n}\n\n/**\n * A payment whose release fails alone',
      after: '  return batch;\n}\n\n/**\n * A payment whose release fails alone',
    },
  ],
  run: simulated,
  brokenPromise: 'Nothing is broadcast before it is stored',
};
