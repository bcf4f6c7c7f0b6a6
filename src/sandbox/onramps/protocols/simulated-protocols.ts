import type { ProviderId } from '../../../domain/provider-catalogue.ts';
import { createBanxaProtocol } from './banxa.ts';
import { createCoinbaseProtocol } from './coinbase.ts';
import { moonpayProtocol } from './moonpay.ts';
import { createRampNetworkProtocol } from './rampnetwork.ts';
import { revolutProtocol } from './revolut.ts';
import type { SimulatedProtocol } from './simulated-protocol.ts';
import { stripeProtocol } from './stripe.ts';
import { createTransakProtocol } from './transak.ts';
import { createWertProtocol } from './wert.ts';

/** The providers whose own protocol is simulated; the others are reached by the protocol of our own. */
export const simulatedProviders = [
  'moonpay',
  'wert',
  'revolut',
  'rampnetwork',
  'transak',
  'coinbase',
  'stripe',
  'banxa',
] as const satisfies readonly ProviderId[];

/** The other side of each of them, with a memory of its own. */
export function createSimulatedProtocols(): ReadonlyMap<ProviderId, SimulatedProtocol> {
  const protocols: Readonly<Record<(typeof simulatedProviders)[number], SimulatedProtocol>> = {
    moonpay: moonpayProtocol,
    wert: createWertProtocol(),
    revolut: revolutProtocol,
    rampnetwork: createRampNetworkProtocol(),
    transak: createTransakProtocol(),
    coinbase: createCoinbaseProtocol(),
    stripe: stripeProtocol,
    banxa: createBanxaProtocol(),
  };
  return new Map(simulatedProviders.map((id) => [id, protocols[id]]));
}
