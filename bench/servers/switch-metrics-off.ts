import { createRequire } from 'node:module';

/**
 * Takes the metrics out of this process, for the bench of what they cost: the library's own work does nothing, while the
 * service goes on calling it. There is no such setting, as nobody should want it. To be called before the service is
 * loaded, because a module's functions are bound when it is first imported.
 */
export function switchMetricsOff(): void {
  const metrics = createRequire(import.meta.url)('prom-client');
  const nothing = () => {};
  metrics.collectDefaultMetrics = nothing;
  metrics.Histogram.prototype.observe = nothing;
  metrics.Counter.prototype.inc = nothing;
  metrics.Gauge.prototype.set = nothing;
}
