import type { ProviderId } from '../../../domain/provider-catalogue.ts';
import { createBanxaProtocol } from './banxa.ts';
import { createCoinbaseProtocol } from './coinbase.ts';
import { cryptocomProtocol } from './cryptocom.ts';
import { moonpayProtocol } from './moonpay.ts';
import { createRampNetworkProtocol } from './rampnetwork.ts';
import { revolutProtocol } from './revolut.ts';
import type { SimulatedProtocol } from './simulated-protocol.ts';
import { stripeProtocol } from './stripe.ts';
import { createTransakProtocol } from './transak.ts';
import { createWertProtocol } from './wert.ts';

/**
 * The other side of each provider's protocol, with a memory of its own. Those that are a way to pay elsewhere are found
 * at an address of their own here, so that they can be out of order by themselves.
 */
export function createSimulatedProtocols(): Readonly<Record<ProviderId, SimulatedProtocol>> {
  return {
    moonpay: moonpayProtocol,
    wert: createWertProtocol(),
    revolut: revolutProtocol,
    cryptocom: cryptocomProtocol,
    rampnetwork: createRampNetworkProtocol(),
    transak: createTransakProtocol(),
    coinbase: createCoinbaseProtocol(),
    paypal: moonpayProtocol,
    stripe: stripeProtocol,
    banxa: createBanxaProtocol(),
    klarna: createBanxaProtocol(),
  };
}
