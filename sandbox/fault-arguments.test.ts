import { expect, it } from 'vitest';
import { ServiceError } from '../src/payment/errors.ts';
import { readFault, readFaultTarget } from './fault-arguments.ts';

it.each(['rates', 'chain'])('sandbox fault takes the target %s', (target) => {
  expect(readFaultTarget({ target })).toBe(target);
});

it('sandbox fault of a provider names a provider', () => {
  expect(readFaultTarget({ target: 'provider', provider: 'wert' })).toBe('provider');
  for (const args of [{ target: 'provider' }, { target: 'provider', provider: 'nobody' }]) {
    expect(() => readFaultTarget(args)).toThrow(ServiceError);
    expect(() => readFaultTarget(args)).toThrow(/^provider \S+/);
  }
});

it.each([{}, { target: 'dns' }])('sandbox fault refuses the target of %j and names the option', (args) => {
  expect(() => readFaultTarget(args)).toThrow(ServiceError);
  expect(() => readFaultTarget(args)).toThrow(/^target \S+/);
});

it.each([
  [{ down: true }, 'down'],
  [{ slow: true, up: undefined }, 'slow'],
  [{ up: true }, 'up'],
])('sandbox fault reads %j', (args, fault) => {
  expect(readFault(args)).toBe(fault);
});

it.each([{}, { down: true, up: true }, { down: 'yes' }, { down: true, slow: true, up: true }])(
  'sandbox fault refuses %j, because it is not exactly one fault',
  (args) => {
    expect(() => readFault(args)).toThrow(ServiceError);
    expect(() => readFault(args)).toThrow(/^fault must be exactly one of --/);
  },
);
