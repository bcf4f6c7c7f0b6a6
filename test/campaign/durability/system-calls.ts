/** One call as `strace -f -x -y` shows it. Lines are numbers in the trace, in which all threads share one order. */
export interface SystemCall {
  readonly name: string;
  /** What the first argument is open on, a path or `socket:[…]`; '' for none. */
  readonly openOn: string;
  /** All bytes that were handed over, one character each. */
  readonly bytes: string;
  readonly beganAtLine: number;
  /** Infinity for a call that the trace does not see the end of. */
  readonly endedAtLine: number;
  readonly hasFailed: boolean;
}

const began = /^(\d+)\s+(\w+)\((.*)$/;
const resumed = /^(\d+)\s+<\.\.\. (\w+) resumed>(.*)$/;
const UNFINISHED = '<unfinished ...>';

/** The calls of a trace, in the order in which they began. */
export function readSystemCalls(trace: string): SystemCall[] {
  const calls: SystemCall[] = [];
  /** Index in `calls` of what a thread has begun and not ended. */
  const unfinished = new Map<string, number>();
  for (const [line, text] of trace.split('\n').entries()) {
    const end = resumed.exec(text);
    if (end !== null) {
      const index = unfinished.get(end[1] as string);
      unfinished.delete(end[1] as string);
      if (index === undefined) continue;
      calls[index] = {
        ...(calls[index] as SystemCall),
        endedAtLine: line,
        hasFailed: failed(end[3] as string),
      };
      continue;
    }
    const start = began.exec(text);
    if (start === null) continue;
    const [, thread, name, rest] = start as unknown as [string, string, string, string];
    const isUnfinished = rest.endsWith(UNFINISHED);
    if (isUnfinished) unfinished.set(thread, calls.length);
    calls.push({
      name,
      openOn: /^\d+<([^>]*)>/.exec(rest)?.[1] ?? '',
      bytes: bytesOf(rest),
      beganAtLine: line,
      endedAtLine: isUnfinished ? Number.POSITIVE_INFINITY : line,
      hasFailed: !isUnfinished && failed(rest),
    });
  }
  return calls;
}

function failed(rest: string): boolean {
  return / = -\d/.test(rest);
}

/** All strings of the arguments; strace shows one with any byte that is not text in hexadecimal as a whole. */
function bytesOf(rest: string): string {
  return [...rest.matchAll(/"((?:[^"\\]|\\.)*)"/g)]
    .map(([, shown]) =>
      (shown as string).replace(/\\(x[0-9a-f]{2}|.)/g, (_, escaped: string) =>
        escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped.slice(1), 16)) : escaped,
      ),
    )
    .join('');
}
