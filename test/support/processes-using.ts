import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process of this machine. */
export interface RunningProcess {
  readonly pid: number;
  readonly commandLine: string;
}

/** Processes that were started in a folder or whose command line names it, other than our own. */
export function processesUsing(folder: string): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const place = readlinkSync(`/proc/${name}/cwd`);
        const isThere = place === folder || place.startsWith(`${folder}/`) || commandLine.includes(folder);
        return isThere ? [{ pid: Number(name), commandLine }] : [];
      } catch {
        return []; // It ended meanwhile, or is somebody else's.
      }
    });
}
