/** Progress of a long task: `done` of `total` units, such as payments. `total` is null while it is unknown. */
export interface Progress {
  readonly unit: string;
  readonly done: number;
  readonly total: number | null;
}

/** Returns whether a step is a `Progress`. A newer server may report other steps, which this version skips. */
export function isProgress(step: unknown): step is Progress {
  const { unit, done, total } = (step ?? {}) as Partial<Progress>;
  return (
    typeof unit === 'string' && typeof done === 'number' && (total === null || typeof total === 'number')
  );
}

/** Callback after each portion of work. It throws if the user has stopped the work. */
export type OnProgress = (progress: Progress) => void;

const TERMINAL_INTERVAL_MS = 200;
const LINE_INTERVAL_MS = 10_000;
/** Time after which the rate of the current step is shown. */
const FIRST_RATE_SECONDS = 2;

/**
 * Shows progress on standard error. On a terminal, a single line is overwritten; elsewhere, a line is added every ten
 * seconds. With `isJson`, all lines are JSON, and the end of each step adds a line.
 */
export function showProgress(command: string, isJson: boolean) {
  const stream = process.stderr;
  const isTerminal = stream.isTTY && !isJson;
  let latest: Progress | null = null;
  let startedAtMs = performance.now();
  const clear = () => void (isTerminal && stream.write('\r\x1b[K'));
  const print = () => {
    if (latest === null) return;
    const elapsed = (performance.now() - startedAtMs) / 1_000;
    const rate = elapsed < FIRST_RATE_SECONDS ? 0 : latest.done / elapsed;
    const left = rate === 0 || latest.total === null ? null : Math.ceil((latest.total - latest.done) / rate);
    const seconds = Math.round(elapsed);
    const pace = rate < 1 ? `${seconds} s` : `${seconds} s, ${Math.round(rate)} a second`;
    const text = isJson
      ? JSON.stringify({ progress: { command, ...latest, seconds, seconds_left: left } })
      : `${command}: ${countOf(latest)}, ${left === null ? pace : `about ${durationOf(left)} left`}`;
    clear();
    stream.write(isTerminal ? text.slice(0, (stream.columns || 80) - 1) : `${text}\n`);
  };
  const timer = setInterval(print, isTerminal ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS).unref();
  return {
    report(progress: Progress): void {
      if (latest?.unit !== progress.unit) startedAtMs = performance.now();
      latest = progress;
      if (isJson && progress.done === progress.total) print();
    },
    /** Clears the line on the terminal before other output. */
    clear,
    /** Describes the work done, such as `120 of 500 payments`. */
    done: () => (latest === null ? 'before anything was done' : countOf(latest)),
    end(): void {
      clearInterval(timer);
      clear();
    },
  };
}

const countOf = ({ unit, done, total }: Progress) =>
  total === null ? `${done} ${unit}` : `${done} of ${total} ${unit}`;

const durationOf = (seconds: number) => (seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);
