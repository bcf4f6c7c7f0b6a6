import { expect, it } from 'vitest';
import { createOpenedRecorder } from './record-opened.ts';

it('records a payment when it is first opened, and says that a record failed', async () => {
  const written: string[] = [];
  const failures: unknown[] = [];
  const { record, flush } = createOpenedRecorder({
    records: {
      async addRecords([opened]) {
        if (opened?.name === 'lost') throw new Error('the store is down');
        written.push(`${opened?.kind} ${opened?.name} ${opened?.atMs}`);
      },
    },
    nowMs: () => 7,
    onFailure: (error) => failures.push(error),
  });
  for (const id of ['one', 'two', 'one', 'lost']) record({ accountId: 'shop', id } as never);
  await flush();
  expect(written).toEqual(['opened one 7', 'opened two 7']);
  expect(failures).toHaveLength(1);
});
