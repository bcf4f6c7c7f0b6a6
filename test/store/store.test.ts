import { afterAll, describe } from 'vitest';
import { startPostgres } from '../support/postgres.ts';
import { describeStore } from './conformance.ts';
import { storeEngines } from './engines.ts';
import { describePlans, recordStatements } from './plans.ts';

const recorded = recordStatements();
const postgres = await startPostgres();
afterAll(() => postgres.stop());

for (const [name, open] of Object.entries(storeEngines(postgres))) describeStore(name, open);
describe('however many payments are stored', () => describePlans(recorded, postgres));
