import type { ProviderId } from '../../../domain/provider-catalogue.ts';
import { moonpayProtocol } from './moonpay.ts';
import type { SimulatedProtocol } from './simulated-protocol.ts';

/** The providers whose own protocol is simulated; the others are reached by the protocol of our own. */
export const simulatedProtocols: ReadonlyMap<ProviderId, SimulatedProtocol> = new Map([
  ['moonpay', moonpayProtocol],
]);
