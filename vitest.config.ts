import { defineConfig } from 'vitest/config';

/** Kinds of tests that have a folder of their own below `test/`; what lies elsewhere is `integration`. */
const named = ['structure', 'http', 'e2e', 'browser'];

/** One project: its name, the files it takes, and how long one test of it may take. */
function project(name: string, include: string[], testTimeoutMs: number, exclude: string[] = []) {
  return {
    extends: true as const,
    test: { name, include, exclude, testTimeout: testTimeoutMs, hookTimeout: testTimeoutMs },
  };
}

/**
 * A project whose files share processes and what these have loaded, which is most of the time of a small file. It is for
 * tests that change nothing of the process they run in; nothing in `src` is one of a kind either.
 */
function sharing(alone: ReturnType<typeof project>) {
  return { ...alone, test: { ...alone.test, isolate: false } };
}

/** What stands on the store's ports, a second time: these files ask for the engine in `test/support/test-store.ts`. */
const onStore = sharing(
  project('postgres', ['test/{http,settlement}/**/*.test.ts', 'test/cli/operations.test.ts'], 180_000),
);
const postgres = { ...onStore, test: { ...onStore.test, globalSetup: ['test/support/postgres-for-all.ts'] } };

export default defineConfig({
  test: {
    // Node strips the types itself, as it does in production: what is tested is what runs.
    experimental: { viteModuleRunner: false },
    environment: 'node',
    pool: 'forks',
    maxWorkers: 2,
    retry: 0,
    passWithNoTests: false,
    allowOnly: false,
    dangerouslyIgnoreUnhandledErrors: false,
    teardownTimeout: 20_000,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['**/*.test.ts'],
      reportsDirectory: 'coverage',
    },
    projects: [
      sharing(
        project('unit', ['{src,contracts,sdk,bench,scripts}/**/*.test.ts'], 60_000, ['**/node_modules/**']),
      ),
      sharing(project('structure', ['test/structure/**/*.test.ts'], 60_000)),
      sharing(project('http', ['test/http/**/*.test.ts'], 60_000)),
      postgres,
      project('integration', ['test/**/*.test.ts'], 180_000, [`test/{${named.join(',')}}/**`]),
      project('e2e', ['test/e2e/**/*.test.ts'], 300_000),
      project('browser', ['test/browser/**/*.test.ts'], 300_000),
    ],
  },
});
