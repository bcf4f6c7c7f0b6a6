import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import {
  conformanceTests,
  longTests,
  paymentTests,
  postgresTests,
  processFolders,
  processTests,
} from './tools/test-folders.ts';

/** Kinds of tests that have folders of their own below `test/`; what lies elsewhere is `integration`. */
const named = ['structure', 'http', 'e2e', 'browser', ...processFolders];

/** One project: its name, the files it takes, and how long one test of it may take. */
function project(
  name: string,
  include: readonly string[],
  testTimeoutMs: number,
  exclude: readonly string[] = [],
) {
  const [testTimeout, hookTimeout] = [testTimeoutMs, testTimeoutMs];
  return {
    extends: true as const,
    test: { name, include: [...include], exclude: [...exclude], testTimeout, hookTimeout },
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
const onStore = sharing(project('postgres', postgresTests.include, 180_000, postgresTests.exclude));
const postgres = { ...onStore, test: { ...onStore.test, globalSetup: ['test/support/postgres-for-all.ts'] } };

/** Files that take longest: begun last, each would be waited for alone. */
const longFiles =
  /test\/(store\/(store|move-store|postgres-instances)|release\/(setup|package)|verify\/planted|sandbox\/(restart|steady-memory)|sdk\/(python|follow-events)|cli\/grade|examples\/examples|settlement\/endpoint-effects|http\/hostile-queries|browser\/(pages|checkout|docs|operator)|e2e\/(recovery-drill|rolling-restart|ten-minute-start|rehearse|unhappy-cases))\./;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => longFiles.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    // Node strips the types itself, as it does in production: what is tested is what runs.
    experimental: { viteModuleRunner: false },
    environment: 'node',
    pool: 'forks',
    // Two more than the smallest machine has cores: many tests wait for blocks, pages and deadlines.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    retry: 0,
    // Prints whole values, because the log of a CI run has the message alone.
    chaiConfig: { truncateThreshold: 2_000 },
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
        project('unit', ['{src,sandbox,contracts,sdk,tools}/**/*.test.ts'], 60_000, [
          '**/node_modules/**',
          ...longTests,
          ...processTests,
        ]),
      ),
      sharing(project('structure', ['test/structure/**/*.test.ts'], 60_000, longTests)),
      sharing(project('http', ['test/http/**/*.test.ts'], 60_000, longTests)),
      sharing(
        project('integration', ['test/**/*.test.ts'], 180_000, [
          `test/{${named.join(',')}}/**`,
          ...longTests,
        ]),
      ),
      project('conformance', conformanceTests, 180_000),
      project('payment', paymentTests, 300_000),
      sharing(project('long', longTests, 180_000)),
      postgres,
      project(
        'processes',
        [`test/{${processFolders.join(',')}}/**/*.test.ts`, ...processTests],
        180_000,
        conformanceTests,
      ),
      project('e2e', ['test/e2e/**/*.test.ts'], 300_000, paymentTests),
      project('browser', ['test/browser/**/*.test.ts'], 300_000, paymentTests),
    ],
  },
});
