import { type Plant, simulated } from './plant.ts';

/** The row stays pending until the outcome is recorded: a process that dies in between sends again. */
export const webhookBeforeClaim: Plant = {
  fault: 'a webhook sent before its claim',
  file: 'src/store/webhooks.ts',
  changes: [
    {
      before: "const claimed = yield* run`\n    UPDATE webhooks SET status = 'sending',",
      after: 'const claimed = yield* run`\n    UPDATE webhooks SET status = status,',
    },
    {
      before: "AND (status = 'sending' OR reason = 'interrupted')",
      after: "AND status = 'pending'",
    },
  ],
  run: simulated,
  brokenPromise: 'No POST without its claimed row',
};
