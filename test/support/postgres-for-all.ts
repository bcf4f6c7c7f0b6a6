import type { TestProject } from 'vitest/node';
import { openPostgresStore } from '../../src/app/store/postgres-store.ts';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** An empty, migrated database of the engine that the project's tests run on; absent where that is SQLite. */
    postgresTemplate?: string;
  }
}

/** Starts one PostgreSQL for all files of a project. Each test copies the database that is migrated here. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres();
  try {
    const url = await postgres.createDatabase();
    await (await openPostgresStore({ url })).close();
    project.provide('postgresTemplate', url);
    return () => postgres.stop();
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
