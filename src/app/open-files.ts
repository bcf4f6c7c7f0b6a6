/** More connections than that are refused, whatever the system allows. */
const MAXIMUM_CONNECTIONS = 16_000;
/** For open deliveries, the database, the chain, and what else the service opens itself. */
const OWN_FILES = 4_000;
/** Where the system does not say: what it grants nearly everywhere. */
const USUAL_LIMIT = 1_024;

/** How many files and sockets this process may have open. */
export function readOpenFilesLimit(): number {
  // Otherwise it looks up the names of all that are connected.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } };
  };
  const limit = userLimits?.open_files?.soft ?? USUAL_LIMIT;
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
}

/**
 * How many connections to the public server that leaves room for. Whoever opens more must not take what the
 * service needs itself: a webhook for which no socket can be opened has failed for good.
 */
export function connectionsWithin(openFiles: number): number {
  return Math.min(MAXIMUM_CONNECTIONS, Math.max(openFiles - OWN_FILES, Math.floor(openFiles / 4)));
}
