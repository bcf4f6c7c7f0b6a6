/** Moves a store as the command does, in a process that can be killed: `from` and `to` are its arguments. */
import { moveStore } from '../../src/app/move-store.ts';

const [from, to] = process.argv.slice(2) as [string, string];
const { moved } = await moveStore({ dataDir: '', databaseUrl: null }, { from, to });
console.log(moved ? 'moved' : 'not moved');
