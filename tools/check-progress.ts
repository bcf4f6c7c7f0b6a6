/** Shows how far the check is, on standard error: in one line of a terminal, elsewhere by a line every ten seconds. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { running } from './check-step.ts';

/** Steps differ too much for a rate, so the time left is that of the last run that passed. */
export function followSteps(name: string, total: number) {
  const { stderr } = process;
  const file = join(import.meta.dirname, `../node_modules/.cache/card-checkout/seconds-of-${name}`);
  const last = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  let ended = 0;
  const seconds = () => Math.round(performance.now() / 1000);
  const clear = () => void (stderr.isTTY && stderr.write('\r\x1b[K'));
  const print = () => {
    const left = last > seconds() ? `, about ${last - seconds()} s left` : '';
    const text = `${ended} of ${total} steps, ${seconds()} s${left}; now ${[...running.values()].join(', ')}`;
    clear();
    stderr.write(stderr.isTTY ? text.slice(0, (stderr.columns || 80) - 1) : `${text}\n`);
  };
  const timer = setInterval(print, stderr.isTTY ? 1_000 : 10_000);

  return {
    /** Counts an ended step, and empties the line of the terminal for its report. */
    count(): void {
      ended++;
      clear();
    },
    stop(signal: string): void {
      clear();
      console.error(`Stopped by ${signal}: ${ended} of ${total} steps ended. The same command begins again.`);
    },
    end(hasPassed: boolean): void {
      clearInterval(timer);
      clear();
      // The folder is there: the types were checked.
      if (hasPassed) writeFileSync(file, String(seconds()));
    },
  };
}
