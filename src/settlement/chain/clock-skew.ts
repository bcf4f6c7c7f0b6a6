/** Compares this machine's clock with the newest block. Blocks come every 1.5 to 2 seconds. */
import type { ChainEndpoint } from './endpoint-rotation.ts';

export const NOTABLE_SKEW_MS = 30_000;

/** Returns the time of each endpoint's newest block, or the error of an endpoint that cannot report one. */
export function readNewestBlocksMs(endpoints: readonly ChainEndpoint[]): Promise<(number | Error)[]> {
  return Promise.all(
    endpoints.map(async (endpoint) => {
      try {
        await endpoint.ensureChain();
        const latest = await endpoint.readBlock('latest');
        return latest?.timestampMs ?? new Error(`${endpoint.rpc.label} has no latest block`);
      } catch (error) {
        return error as Error;
      }
    }),
  );
}

/** Returns how far the clock is from the newest block, with a sentence for the operator; null if there is no block. */
export function clockSkew(
  newestBlocksMs: readonly (number | Error)[],
  nowMs: number,
): { readonly skewMs: number; readonly description: string } | null {
  const newestMs = Math.max(...newestBlocksMs.filter((found) => typeof found === 'number'));
  if (newestMs === Number.NEGATIVE_INFINITY) return null;
  const skewMs = Math.abs(nowMs - newestMs);
  const direction = newestMs > nowMs ? 'ahead of' : 'behind';
  const found = `the newest block is ${Math.round(skewMs / 1000)} s ${direction} this clock`;
  if (skewMs <= NOTABLE_SKEW_MS) return { skewMs, description: found };
  return { skewMs, description: `${found}: set the clock by NTP, or replace endpoints that lag` };
}
