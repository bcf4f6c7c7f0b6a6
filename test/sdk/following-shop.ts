/** A shop that follows events into its own database, and kills itself at the step that it is told. */
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '../../sdk/src/client.ts';
import { type EventCursor, followEvents } from '../../sdk/src/follow-events.ts';

const [baseUrl, apiKey, file, killAt] = process.argv.slice(2) as [string, string, string, string];
let steps = 0;

/** One more step; the process ends here without a word if it is the one. */
function step(): void {
  if (++steps === Number(killAt)) process.kill(process.pid, 'SIGKILL');
}

const database = new DatabaseSync(file);
database.exec(`
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS cursor (number INTEGER NOT NULL);
  INSERT INTO cursor SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM cursor);
  CREATE TABLE IF NOT EXISTS fulfilments (payment_id TEXT NOT NULL);`);

const cursor: EventCursor<DatabaseSync> = {
  read: () => Number(database.prepare('SELECT number FROM cursor').get()?.['number']),
  async advance(previous, number, work) {
    step();
    database.exec('BEGIN IMMEDIATE');
    const { changes } = database
      .prepare('UPDATE cursor SET number = ? WHERE number = ?')
      .run(number, previous);
    step();
    if (changes === 1) await work(database);
    step();
    database.exec('COMMIT');
    step();
    return changes === 1;
  },
  skipTo: (number) => void database.prepare('UPDATE cursor SET number = ?').run(number),
};

const ending = new AbortController();
await followEvents({
  client: createClient({ apiKey, baseUrl, maximumRetries: 0 }),
  cursor,
  onEvent(transaction, { type, payment }) {
    step();
    if (type !== 'payment.paid') return;
    transaction.prepare('INSERT INTO fulfilments (payment_id) VALUES (?)').run(payment.payment_id);
    step();
  },
  onError(error) {
    throw error;
  },
  signal: ending.signal,
  wait: async () => ending.abort(),
});
database.close();
process.exitCode = 0;
