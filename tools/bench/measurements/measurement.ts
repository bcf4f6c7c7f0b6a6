import type { Extent } from '../extent.ts';
import type { Machine } from '../machine.ts';

/** One kind of number that a measurement found, once a round. */
export interface Series {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
}

/** What a measurement found. */
export interface Finding {
  readonly name: string;
  readonly title: string;
  readonly series: readonly Series[];
}

export interface MeasurementContext {
  readonly machine: Machine;
  readonly extent: Extent;
  /** Of this measurement alone; on a disk, and removed afterwards. */
  readonly folder: string;
  /** Makes the data folder with a million payments at its first call. */
  readonly millionDataDir: () => Promise<string>;
}

/** Something that is measured other than by sending requests to a server. */
export interface Measurement {
  readonly name: string;
  readonly title: string;
  measure(context: MeasurementContext): Promise<readonly Series[]>;
}
