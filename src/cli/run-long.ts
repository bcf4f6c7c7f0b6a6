import { type OnProgress, showProgress } from '../platform/progress.ts';
import { signalToStop } from '../platform/stop-signals.ts';

/** What a stopped command leaves behind, and how to resume it. */
const resumeHints = {
  'account import':
    'What was created stays. Run the command again, with a new file for --keys: it goes on with the missing rows.',
  'audit export':
    'What was printed is complete up to its last line. Name its time with --before to print the rest.',
  'move-store':
    'The source is unchanged, and the target is empty. Run the command again: it copies everything.',
  rehearse: 'No process and no file is left. Run the command again: it begins with the first step.',
  verify: 'Nothing was changed. Run the command again: it begins with the first payment.',
  backup: 'No backup was made, and no file is left. Run the command again.',
} as const;

/**
 * Runs a long command and shows its progress. SIGINT or SIGTERM aborts `signal` and stops the work at its next progress
 * report; a later signal ends the process. Throws an error that says what was done and how to resume.
 */
export async function runLong<T>(
  name: keyof typeof resumeHints,
  isJson: boolean,
  run: (onProgress: OnProgress, signal: AbortSignal, clear: () => void) => Promise<T>,
): Promise<T> {
  const shown = showProgress(name, isJson);
  const stopping = new AbortController();
  let exitCode = 1;
  void signalToStop(process, () => performance.now(), process.exit).then((signal) => {
    shown.clear();
    process.stderr.write('card-checkout: stopping; a second signal ends the command at once\n');
    exitCode = signal.exitCode;
    stopping.abort(new Error(`stopped by ${signal.name}`));
  });
  const onProgress: OnProgress = (progress) => {
    shown.report(progress);
    stopping.signal.throwIfAborted();
  };
  try {
    return await run(onProgress, stopping.signal, shown.clear);
  } catch (cause) {
    if (!stopping.signal.aborted) throw cause;
    process.exitCode = exitCode;
    throw new Error(`${stopping.signal.reason.message} (${shown.done()}). ${resumeHints[name]}`, { cause });
  } finally {
    shown.end();
  }
}
