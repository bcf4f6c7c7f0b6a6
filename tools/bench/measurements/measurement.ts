import type { Extent } from '../extent.ts';
import type { Machine } from '../machine.ts';

/** One figure of a measurement, with a value per round. */
export interface Series {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
}

/** Results of a measurement. */
export interface Finding {
  readonly name: string;
  readonly title: string;
  readonly series: readonly Series[];
}

export interface MeasurementContext {
  readonly machine: Machine;
  readonly extent: Extent;
  /** Folder of this measurement, on a disk; removed afterwards. */
  readonly folder: string;
  /** Creates the data folder with a million payments on the first call. */
  readonly millionDataDir: () => Promise<string>;
}

/** Measurement that does not send requests to a server. */
export interface Measurement {
  readonly name: string;
  readonly title: string;
  measure(context: MeasurementContext): Promise<readonly Series[]>;
}
