import type { PromiseResult } from './part.ts';
import type { SimulationOptions } from './simulation/run.ts';

export interface Part {
  readonly name: string;
  /** Only what is chosen is imported. */
  readonly load: () => Promise<(options: SimulationOptions) => Promise<readonly PromiseResult[]>>;
}

/** All parts; `npm run test:all` runs the short form of each. */
export const parts: readonly Part[] = [
  { name: 'simulation', load: async () => (await import('./simulation/run.ts')).runSimulation },
  { name: 'instances', load: async () => (await import('./simulation/run.ts')).runInstances },
  { name: 'kills', load: async () => (await import('./kills/run.ts')).runKills },
  { name: 'durability', load: async () => (await import('./durability/run.ts')).runDurability },
];
