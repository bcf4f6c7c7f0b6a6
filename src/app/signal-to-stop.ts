import type { EventEmitter } from 'node:events';

/**
 * A terminal sends its Ctrl-C to everybody in it, and npm passes its own on to whom it started: what comes this soon
 * after the first signal is the same wish, and must not leave the sandbox's chain running.
 */
const SAME_WISH_MS = 1_000;

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Resolves with the first signal to stop; a later second one no longer waits for anything.
 *
 * @param signals what the signals come from: the process
 * @param endNow ends the process with this exit code
 */
export function signalToStop(
  signals: EventEmitter,
  monotonicMs: () => number,
  endNow: (exitCode: number) => void,
): Promise<void> {
  return new Promise((resolve) => {
    let firstAtMs: number | null = null;
    for (const [signal, exitCode] of Object.entries(exitCodes)) {
      signals.on(signal, () => {
        firstAtMs ??= monotonicMs();
        if (monotonicMs() - firstAtMs >= SAME_WISH_MS) endNow(exitCode);
        else resolve();
      });
    }
  });
}
