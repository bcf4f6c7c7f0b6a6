import type { Extent } from './extent.ts';
import type { Findings, GoalResult } from './goals.ts';
import type { MachineDescription } from './machine.ts';

/** What a run leaves in `test-output/bench.json`. */
export interface BenchReport extends Findings {
  /** When it began. */
  readonly at: string;
  readonly machine: MachineDescription;
  readonly extent: Extent;
  /** How long the run took. */
  readonly minutes: number;
  readonly goals: readonly GoalResult[];
}
