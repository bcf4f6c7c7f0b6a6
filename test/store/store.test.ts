import { afterAll } from 'vitest';
import { startPostgres } from '../support/postgres.ts';
import { describeStore } from './conformance.ts';
import { storeEngines } from './engines.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

for (const [name, open] of Object.entries(storeEngines(postgres))) describeStore(name, open);
