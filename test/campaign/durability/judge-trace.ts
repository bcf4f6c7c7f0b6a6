import type { SystemCall } from './system-calls.ts';

export interface TraceFindings {
  readonly answered: number;
  /** Ids that were answered before a sync had ended that began after their row was written. */
  readonly answeredTooEarly: readonly string[];
  /** Ids whose row or answer the trace does not show. */
  readonly notSeen: readonly string[];
  /** Successful syncs of the log. */
  readonly syncs: number;
}

const isSync = ({ name }: SystemCall) => name === 'fsync' || name === 'fdatasync';

/**
 * Whether each answer was handed to its socket only after the database's log was on the disk with its row.
 *
 * @param isLog whether a path is the log of the database, to which rows go first
 */
export function judgeTrace(
  calls: readonly SystemCall[],
  ids: readonly string[],
  isLog: (path: string) => boolean,
): TraceFindings {
  const logCalls = calls.filter(({ openOn }) => isLog(openOn));
  const syncs = logCalls.filter((call) => isSync(call) && !call.hasFailed);
  const writes = firstById(logCalls, ids, ({ bytes }) => bytes.matchAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g));
  const answers = firstById(
    calls.filter(({ openOn }) => openOn.startsWith('socket:') || openOn.startsWith('TCP')),
    ids,
    ({ bytes }) => bytes.matchAll(/(?<="payment_id":")[^"]+/g),
  );
  const seen = ids.filter((id) => writes.has(id) && answers.has(id));
  return {
    answered: seen.length,
    notSeen: ids.filter((id) => !seen.includes(id)),
    answeredTooEarly: seen.filter((id) => {
      const written = writes.get(id) as SystemCall;
      const answer = answers.get(id) as SystemCall;
      return !syncs.some(
        (sync) => sync.beganAtLine > written.endedAtLine && sync.endedAtLine < answer.beganAtLine,
      );
    }),
    syncs: syncs.length,
  };
}

function firstById(
  calls: readonly SystemCall[],
  ids: readonly string[],
  find: (call: SystemCall) => Iterable<RegExpMatchArray>,
): Map<string, SystemCall> {
  const wanted = new Set(ids);
  const first = new Map<string, SystemCall>();
  for (const call of calls) {
    for (const [id] of find(call)) if (wanted.has(id) && !first.has(id)) first.set(id, call);
  }
  return first;
}

/** Length of the header of a frame in SQLite's log; its bytes 4 to 7 are not all zero where a commit ends. */
const FRAME_HEADER_BYTES = 24;

/** How many commits SQLite wrote to its log. */
export function countSqliteCommits(calls: readonly SystemCall[], isLog: (path: string) => boolean): number {
  return calls.filter(
    ({ name, openOn, bytes }) =>
      name === 'pwrite64' &&
      isLog(openOn) &&
      bytes.length === FRAME_HEADER_BYTES &&
      bytes.slice(4, 8) !== '\0\0\0\0',
  ).length;
}
