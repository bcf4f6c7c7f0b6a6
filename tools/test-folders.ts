/**
 * One payment from the API call to its webhook, and a customer's journey in a browser: what `npm test` runs of whole
 * services, beside nothing else.
 */
export const paymentTests: readonly string[] = [
  'test/e2e/one-payment.test.ts',
  'test/browser/journey.test.ts',
];

/** The store's promises, on both engines. */
export const conformanceTests: readonly string[] = ['test/store/store.test.ts'];

/**
 * Tests that only `npm run test:all` runs: they take long, look at rare faults, or check what seldom changes. Tests of the
 * folders below and of `test/{e2e,browser}` belong there as well, except those named above.
 */
export const longTests: readonly string[] = [
  'tools/{audit,check-release}.test.ts',
  'src/settlement/chain/subscribe-to-heads.test.ts',
  'test/chain/{log-queries,unreliable-endpoints}.test.ts',
  'test/cli/{grade,long-commands,without-server}.test.ts',
  'test/docs/{other-languages,webhook-receiver}.test.ts',
  'test/http/{hostile-queries,pipelining,slow-callers,transport}.test.ts',
  'test/mail/notifications.test.ts',
  'test/providers/failure-modes.test.ts',
  'test/settlement/{endpoint-effects,lying-endpoints,lying-numbers}.test.ts',
  'test/settlement/{node-limits,pipelining,refusals-and-rivals,relayer-key,sender,several-keys}.test.ts',
  'test/settlement/unlucky-batches.test.ts',
  'test/woocommerce/plugin.test.ts',
];

/**
 * Folders below `test/` of the project `processes`: tests that start, stop or kill processes, measure the memory of one, or
 * take long. Each file runs in a separate process.
 */
export const processFolders: readonly string[] = [
  'examples',
  'release',
  'sandbox',
  'sdk',
  'store',
  'support',
  'verify',
  'webhooks',
];

/** A test of that project that lies beside its tool. */
export const processTests: readonly string[] = ['tools/contract-artifacts.test.ts'];

/**
 * Tests of connections and of faulty endpoints. What they do with the store is what other tests of the project `postgres`
 * do as well, so they run on one engine.
 */
export const oneEngineTests: readonly string[] = [
  'test/http/{compression,head-requests,hostile-requests,pipelining,request-ids,slow-callers,transport}.test.ts',
  'test/settlement/{endpoint-effects,lying-endpoints,node-limits}.test.ts',
];

/** Tests that reach the store: the project `postgres` runs them a second time, on the other engine. */
export const postgresTests = {
  include: ['test/{http,settlement}/**/*.test.ts', 'test/cli/operations*.test.ts'],
  /** Tests without a store: pages over given payments, and a check before any payment. */
  exclude: ['test/http/{direct-page,pages,pages-*,plain-peers}.test.ts', ...oneEngineTests],
};
