import { type Plant, simulated } from './plant.ts';

/** The row stays pending until the outcome is recorded: whoever dies in between sends again. */
export const webhookBeforeClaim: Plant = {
  fault: 'a webhook sent before its claim',
  file: 'src/store/sqlite/webhooks.ts',
  changes: [
    {
      before: "UPDATE webhooks SET status = 'sending', claimed_at_ms = ?",
      after: 'UPDATE webhooks SET claimed_at_ms = ?',
    },
    {
      before: "WHERE id = ? AND account_id = ? AND status = 'sending'",
      after: "WHERE id = ? AND account_id = ? AND status = 'pending'",
    },
  ],
  run: simulated,
  brokenPromise: 'No POST without its claimed row',
};
