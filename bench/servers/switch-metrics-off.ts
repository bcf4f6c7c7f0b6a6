import { createRequire } from 'node:module';

/**
 * Takes the metrics out of this process, for the bench of what they cost. There is no such setting, as nobody should want
 * it. To be called before the service is loaded.
 */
export function switchMetricsOff(): void {
  const library: typeof import('prom-client') = createRequire(import.meta.url)('prom-client');
  // What Node itself tells: heap, event loop, garbage.
  Object.assign(library, { collectDefaultMetrics: () => {} });
  // What counts requests.
  library.Histogram.prototype.observe = () => {};
}
