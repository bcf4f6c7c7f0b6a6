import * as argument from '../src/cli/arguments.ts';
import type { OperationArguments } from '../src/cli/operations-context.ts';
import { invalidField } from '../src/payment/errors.ts';
import { type Fault, faults, type ProviderFault, providerFaults } from '../src/payment/test-payments.ts';

// Parsers for the arguments of `sandbox fault`. Each throws an `invalid_request` that names the option.

export function readFaultTarget(args: OperationArguments): 'provider' | 'rates' | 'chain' {
  const value = argument.required(args, 'target');
  if (value === 'rates' || value === 'chain') return value;
  if (value !== 'provider') throw invalidField('target', 'must be one of provider, rates, chain');
  argument.requiredProvider(args, 'provider');
  return value;
}

export function readFault(args: OperationArguments): Fault {
  return onlyOne(args, faults);
}

export function readProviderFault(args: OperationArguments): ProviderFault {
  return onlyOne(args, Object.keys(providerFaults) as ProviderFault[]);
}

function onlyOne<Name extends string>(args: OperationArguments, names: readonly Name[]): Name {
  const chosen = names.filter((name) => args[name] === true);
  const [only] = chosen;
  if (chosen.length !== 1 || only === undefined) {
    const options = names.map((name) => `--${name}`).join(', ');
    throw invalidField('fault', `must be exactly one of ${options}`);
  }
  return only;
}
