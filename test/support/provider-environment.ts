import type { Sandbox } from '../../simulators/start-sandbox.ts';
import type { ProviderId } from '../../src/domain/provider-catalogue.ts';
import { variableNameOf } from '../../src/providers/define-provider.ts';

/** The variables with which a service in live mode reaches a provider of this sandbox. */
export function providerEnvironment(
  world: Pick<Sandbox, 'providerValues'>,
  provider: ProviderId = 'moonpay',
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(world.providerValues[provider]).map(([name, value]) => [
      variableNameOf(provider, name),
      value,
    ]),
  );
}
