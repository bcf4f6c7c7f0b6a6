import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from '../config-variables.ts';

/** The service's log: JSON lines on standard output. Never holds keys, tokens, e-mail addresses or query strings. */
export type Log = Logger;

export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return destination === undefined ? pino(options) : pino(options, destination);
}
