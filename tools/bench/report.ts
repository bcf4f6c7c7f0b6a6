import type { Extent } from './extent.ts';
import type { Findings, GoalResult } from './goals.ts';
import type { MachineDescription } from './machine.ts';

/** Content of `test-output/bench.json`. */
export interface BenchReport extends Findings {
  /** Start of the run. */
  readonly at: string;
  readonly machine: MachineDescription;
  readonly extent: Extent;
  /** Duration of the run. */
  readonly minutes: number;
  readonly goals: readonly GoalResult[];
}
