import { isSecureHttpUrl } from './config-network.ts';
import type { Reader } from './config-reader.ts';
import { type ProviderId, providerIds } from './domain/provider-catalogue.ts';
import {
  CONFIRMED,
  type ProviderValues,
  type ProviderVariable,
  providerEnvironments,
  providerRoutes,
  providerVariables,
  variableNameOf,
} from './domain/provider-variables.ts';

/** The settings of each provider that is configured; one with some of what it needs is a problem. */
export function readProviders(read: Reader, problems: string[]): ReadonlyMap<ProviderId, ProviderValues> {
  const providers = new Map<ProviderId, ProviderValues>();
  for (const id of providerIds) {
    const values = readValues(read, id, problems);
    if (values !== null) providers.set(id, values);
  }
  for (const id of Object.keys(providerRoutes) as ProviderId[]) addRoute(providers, id, problems);
  return providers;
}

/** A provider that is a way to pay at another one needs the settings of that one, too. */
function addRoute(providers: Map<ProviderId, ProviderValues>, id: ProviderId, problems: string[]): void {
  const values = providers.get(id);
  const route = providerRoutes[id]?.find((each) => each === values?.['ROUTE']);
  if (values === undefined || route === undefined) return;
  const ofRoute = providers.get(route);
  if (ofRoute !== undefined) providers.set(id, { ...ofRoute, ...values });
  else problems.push(`${variableNameOf(id, 'ROUTE')} is ${route}, which is not configured.`);
}

/** Null when nothing is set. */
function readValues(read: Reader, id: ProviderId, problems: string[]): ProviderValues | null {
  const variables = providerVariables[id].map((variable) => ({
    ...variable,
    fullName: variableNameOf(id, variable.name),
  }));
  const values: Record<string, string> = {};
  for (const { name, fullName } of variables) {
    const value = read.text(fullName);
    if (value !== null) values[name] = name === 'BASE_URL' ? value.replace(/\/$/, '') : value;
  }
  const isSet = ({ name }: ProviderVariable) => values[name] !== undefined;
  const given = variables.find(isSet)?.fullName;
  if (given === undefined) return null;
  for (const variable of variables) {
    const problem = problemOf(id, variable, values[variable.name]);
    if (problem !== null) problems.push(`${variable.fullName} ${problem}: ${given} is set.`);
  }
  return values;
}

/** The problem of a value, as text that follows its variable's name; null when it is valid. */
function problemOf(
  id: ProviderId,
  { name, isRequired }: ProviderVariable,
  value: string | undefined,
): string | null {
  if (name === 'BASE_URL' && (value === undefined ? isRequired : !isSecureHttpUrl(value)))
    return 'must be an https URL (http on loopback only)';
  if (value === undefined) return isRequired ? 'is missing' : null;
  if (name === 'ENVIRONMENT' && !providerEnvironments.some((known) => known === value))
    return `must be one of ${providerEnvironments.join(', ')}`;
  const routes = providerRoutes[id] ?? [];
  if (name === 'ROUTE' && !routes.some((known) => known === value))
    return `must be one of ${routes.join(', ')}`;
  if (name === 'ONRAMP' && value !== CONFIRMED) return `must be ${CONFIRMED}`;
  return null;
}
