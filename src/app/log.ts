import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import type { LogLevel } from '../config-variables.ts';
import { describeError, redact } from '../http/redact.ts';

/**
 * The service's log: JSON lines on standard output. Errors and texts never hold keys, tokens, e-mail addresses or query
 * strings, wherever in the service they come from; fields are chosen by those who log them.
 */
export type Log = Logger;

export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    hooks: {
      logMethod(args, log) {
        log.apply(this, redactTexts(args) as typeof args);
      },
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** An error that is logged without a text of its own lends it its message, which the serializer does not see. */
function redactTexts([first, ...texts]: readonly unknown[]): unknown[] {
  const error = first instanceof Error ? first : (first as { err?: unknown } | null)?.err;
  if (texts.length === 0 && error instanceof Error) texts.push(error.message);
  return [first, ...texts].map((text) => (typeof text === 'string' ? redact(text) : text));
}
