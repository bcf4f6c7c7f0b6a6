import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { findLoadGenerator, isInstalled, type LoadGenerator, type Pin } from './load/run-load.ts';

/** Description of the machine, printed with every figure. */
export interface MachineDescription {
  readonly cpu: string;
  readonly node: string;
  readonly sqlite: string;
  readonly loadGenerator: string;
  readonly otherLoad: string;
  readonly cores: string;
}

/** Cores that the bench uses: one for the measured server, another for the load. */
export interface Machine {
  readonly description: MachineDescription;
  readonly generator: LoadGenerator;
  readonly measuredCore: Pin;
  readonly loadCore: Pin;
}

export function examineMachine(): Machine {
  const isPinned = cpus().length > 1 && isInstalled('taskset');
  const pinTo =
    (core: number): Pin =>
    (command) =>
      isPinned ? ['taskset', '-c', String(core), ...command] : command;
  const generator = findLoadGenerator(pinTo(1));
  // This process reads the servers' logs, so on the measured core it would compete with them.
  if (isPinned) execFileSync('taskset', ['-a', '-c', '-p', '1', String(process.pid)], { stdio: 'ignore' });
  return {
    description: {
      cpu: `${cpus().length} × ${cpus()[0]?.model}`,
      node: process.version,
      sqlite: process.versions['sqlite'] ?? '',
      loadGenerator: generator.name,
      otherLoad: `load average ${loadavg()[0]?.toFixed(1)} before the run`,
      cores: isPinned ? 'server and load on a core each' : 'not pinned: taskset or a second core is missing',
    },
    generator,
    measuredCore: pinTo(0),
    loadCore: pinTo(1),
  };
}
