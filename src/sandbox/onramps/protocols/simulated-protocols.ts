import type { ProviderId } from '../../../domain/provider-catalogue.ts';
import { moonpayProtocol } from './moonpay.ts';
import { createRampNetworkProtocol } from './rampnetwork.ts';
import type { SimulatedProtocol } from './simulated-protocol.ts';
import { stripeProtocol } from './stripe.ts';
import { createTransakProtocol } from './transak.ts';

/** The providers whose own protocol is simulated; the others are reached by the protocol of our own. */
export const simulatedProviders = [
  'moonpay',
  'rampnetwork',
  'stripe',
  'transak',
] as const satisfies readonly ProviderId[];

/** The other side of each of them, with a memory of its own. */
export function createSimulatedProtocols(): ReadonlyMap<ProviderId, SimulatedProtocol> {
  const protocols: Readonly<Record<(typeof simulatedProviders)[number], SimulatedProtocol>> = {
    moonpay: moonpayProtocol,
    rampnetwork: createRampNetworkProtocol(),
    stripe: stripeProtocol,
    transak: createTransakProtocol(),
  };
  return new Map(simulatedProviders.map((id) => [id, protocols[id]]));
}
