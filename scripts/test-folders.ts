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

/**
 * Tests of connections and of faulty endpoints. What they do with the store is what other tests of the project `postgres`
 * do as well, so they run on one engine.
 */
export const oneEngineTests: readonly string[] = [
  'test/http/{compression,head-requests,hostile-requests,pipelining,request-ids,transport}.test.ts',
  'test/settlement/{endpoint-effects,lying-endpoints,node-limits}.test.ts',
];

/** Tests that reach the store: the project `postgres` runs them a second time, on the other engine. */
export const postgresTests = {
  include: ['test/{http,settlement}/**/*.test.ts', 'test/cli/operations.test.ts'],
  /** Pages over given payments, and a check before there are any: no store is behind them. */
  exclude: ['test/http/{direct-page,pages,pages-*,plain-peers}.test.ts', ...oneEngineTests],
};
