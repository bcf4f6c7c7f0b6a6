import type { FeatureCommands } from '../cli/program.ts';
import { refundCommands } from '../features/refunds/refund.ts';

/** What the features add to the command line. Loaded before every command, so it loads little. */
export const featureCommands: FeatureCommands = refundCommands;
