import type { EventEmitter } from 'node:events';

/** Time within which a terminal or npm may repeat a signal. A repeat must not leave the sandbox's chain running. */
const REPEATED_SIGNAL_MS = 1_000;

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** Resolves to the first stop signal and its exit code. A second signal after `REPEATED_SIGNAL_MS` calls `endNow`. */
export function signalToStop(
  signals: EventEmitter,
  monotonicMs: () => number,
  endNow: (exitCode: number) => void,
): Promise<{ readonly name: string; readonly exitCode: number }> {
  return new Promise((resolve) => {
    let firstAtMs: number | null = null;
    for (const [name, exitCode] of Object.entries(exitCodes)) {
      signals.on(name, () => {
        firstAtMs ??= monotonicMs();
        if (monotonicMs() - firstAtMs >= REPEATED_SIGNAL_MS) endNow(exitCode);
        else resolve({ name, exitCode });
      });
    }
  });
}
