/** Opens a store as a second server would, and prints what came of it. */
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';

try {
  const store = await openSqliteStore({ file: process.argv[2] as string });
  await store.close();
  console.log('opened');
} catch (error) {
  console.log((error as Error).constructor.name);
}
