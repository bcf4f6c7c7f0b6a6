import { createRequire, registerHooks } from 'node:module';

/** What the service loads in place of what counts its requests. */
const countingNothing = 'export const createRequestDurations = () => () => {};';

/**
 * Takes the metrics out of this process, for the bench of what they cost. There is no such setting, as nobody should want
 * it. To be called before the service is loaded: a module's functions are bound when it is first imported.
 */
export function switchMetricsOff(): void {
  // What Node itself tells: heap, event loop, garbage.
  createRequire(import.meta.url)('prom-client').collectDefaultMetrics = () => {};
  registerHooks({
    load: (url, context, nextLoad) =>
      url.endsWith('/src/app/metrics.ts')
        ? { format: 'module', source: countingNothing, shortCircuit: true }
        : nextLoad(url, context),
  });
}
