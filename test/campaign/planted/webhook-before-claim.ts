import { type Plant, simulated } from './plant.ts';

/** The row stays pending until the outcome is recorded: a process that dies in between sends again. */
export const webhookBeforeClaim: Plant = {
  fault: 'a webhook sent before its claim',
  file: 'src/store/webhooks.ts',
  changes: [
    {
      before:
        "UPDATE webhooks SET status = 'sending', claimed_at_ms = ${claimedAtMs}\n    WHERE id = ANY(${ids}) AND status",
      after: 'UPDATE webhooks SET claimed_at_ms = ${claimedAtMs}\n    WHERE id = ANY(${ids}) AND status',
    },
    {
      before: "AND (status = 'sending' OR reason = 'interrupted')",
      after: "AND status = 'pending'",
    },
  ],
  run: simulated,
  brokenPromise: 'No POST without its claimed row',
};
