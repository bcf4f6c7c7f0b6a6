/**
 * Folders below `test/` of the project `processes`: tests that start, stop or kill processes, look at how much memory one
 * takes, or last for long. Each of their files has a process of its own.
 */
export const processFolders: readonly string[] = [
  'campaign',
  'contracts',
  'examples',
  'release',
  'sandbox',
  'sdk',
  'store',
  'support',
  'verify',
  'webhooks',
];

/** Tests that reach the store: the project `postgres` runs them a second time, on the other engine. */
export const postgresTests = {
  include: ['test/{http,settlement}/**/*.test.ts', 'test/cli/operations.test.ts'],
  /** Pages over given payments, and connections: no store is behind them. */
  exclude: ['test/http/{direct-page,pages,pages-*,plain-peers}.test.ts'],
};
