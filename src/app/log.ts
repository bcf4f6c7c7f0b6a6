import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import type { LogLevel } from '../config/variables.ts';
import { describeError, redact } from '../web/request-log.ts';

/** Logger of JSON lines. It redacts secrets in messages and errors; callers redact other fields. */
export type Log = Logger;

/** @param base fields of every line, such as the role of the process */
export function createLog(
  level: LogLevel,
  destination: DestinationStream = standardOutput(),
  base: Readonly<Record<string, string>> | null = null,
): Log {
  const options: LoggerOptions = {
    level,
    base,
    formatters: { level: (label) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    hooks: {
      logMethod(args, log) {
        log.apply(this, redactTexts(args) as typeof args);
      },
    },
  };
  return pino(options, destination);
}

/** Redacts texts. Adds the message of an error logged without text, because the logger would add it unredacted. */
function redactTexts([first, ...texts]: readonly unknown[]): unknown[] {
  const error = first instanceof Error ? first : (first as { err?: unknown } | null)?.err;
  if (texts.length === 0 && error instanceof Error) texts.push(error.message);
  return [first, ...texts].map((text) => (typeof text === 'string' ? redact(text) : text));
}

/** Opens standard output. A full disk must not fail requests, so up to 1 MiB is kept and written later. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true, maxLength: 1024 * 1024 });
  return output.on('error', () => {});
}
