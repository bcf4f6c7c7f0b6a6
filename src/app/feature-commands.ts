import type { FeatureCommands } from '../cli/program.ts';
import { refundCommands } from '../features/refunds/refund.ts';

export const featureCommands: FeatureCommands = refundCommands;
