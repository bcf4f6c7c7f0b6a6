import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { providerIds } from '../../src/payment/provider-catalog.ts';
import { variableNameOf } from '../../src/providers/adapters/define-provider.ts';
import { providers as definitions } from '../../src/providers/adapters/providers.ts';

type Environment = Readonly<Record<string, string>>;

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const SECRET = 'a secret of at least 32 characters';
const RELAYER_KEY = `0x${'1f'.repeat(32)}`;

/** All that live mode insists on. */
const live: Environment = {
  SECRET_KEY: SECRET,
  POLYGON_RPC_URL: 'https://rpc.example/v2/key',
  DEPOSIT_FACTORY_ADDRESS: ADDRESS,
  RELAYER_PRIVATE_KEY: RELAYER_KEY,
  FEE_WALLET: ADDRESS.toLowerCase(),
};

/** Every problem of an environment; empty when it is valid. */
function problemsOf(environment: Environment): readonly string[] {
  try {
    readConfig('live', environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const liveWith = (environment: Environment) => readConfig('live', { ...live, ...environment });

describe.each(providerIds)('the settings of %s', (id) => {
  /** A value for each of them that live mode takes. */
  const settingOf = (name: string) =>
    definitions[id].variables.find((variable) => variable.name === name)?.oneOf?.at(-1) ??
    (name === 'BASE_URL' ? 'https://api.example' : `a ${name}`);
  /** What goes through another provider needs that one's settings. */
  const base =
    definitions[id].routes.length === 0 ? live : { ...live, BANXA_API_KEY: 'key', BANXA_PARTNER: 'shop' };
  const all = Object.fromEntries(
    definitions[id].variables.map(({ name }) => [variableNameOf(id, name), settingOf(name)]),
  );
  const required = definitions[id].variables.filter(({ isRequired }) => isRequired);
  const first = variableNameOf(id, definitions[id].variables[0]?.name ?? '');

  it('are taken whole, and without those that may be missing', () => {
    expect(problemsOf({ ...base, ...all })).toEqual([]);
    const own = definitions[id].variables.map(({ name }) => [name, settingOf(name)]);
    expect(readConfig('live', { ...base, ...all }).providers.get(id)).toMatchObject(Object.fromEntries(own));
    const least = Object.fromEntries(required.map(({ name }) => [variableNameOf(id, name), settingOf(name)]));
    expect(problemsOf({ ...base, ...least })).toEqual([]);
    expect(liveWith({}).providers.has(id)).toBe(false);
  });

  /** One that is alone is missing only together with the provider. */
  const refused = required.length === 1 ? [] : required;
  it.each(refused.map(({ name }) => name))('are refused without %s', (name) => {
    const { [variableNameOf(id, name)]: _, ...rest } = all;
    const [problem, ...others] = problemsOf({ ...base, ...rest });
    expect(problem).toMatch(new RegExp(`^${variableNameOf(id, name)} (is missing|must be an https URL)`));
    expect(others).toEqual([]);
  });

  it('are refused with an address or an environment that is none', () => {
    const urlName = variableNameOf(id, 'BASE_URL');
    if (all[urlName] === undefined) return;
    for (const value of ['ftp://x', 'api.example', 'http://api.example', 'http://127.0.0.1.api.example']) {
      expect(problemsOf({ ...base, ...all, [urlName]: value })).toEqual([
        `${urlName} must be an https URL (http on loopback only): ${first} is set.`,
      ]);
    }
    const environmentName = variableNameOf(id, 'ENVIRONMENT');
    if (all[environmentName] === undefined) return;
    expect(problemsOf({ ...base, ...all, [environmentName]: 'test' })).toEqual([
      `${environmentName} must be one of production, sandbox: ${first} is set.`,
    ]);
  });
});

describe('a provider that is a way to pay at another one', () => {
  const moonpay = { MOONPAY_API_KEY: 'pk', MOONPAY_SECRET_KEY: 'sk' };

  it('has the settings of that one beside its own', () => {
    const { providers } = liveWith({ ...moonpay, PAYPAL_ROUTE: 'moonpay' });
    expect(providers.get('paypal')).toEqual({ API_KEY: 'pk', SECRET_KEY: 'sk', ROUTE: 'moonpay' });
    expect(liveWith(moonpay).providers.has('paypal')).toBe(false);
  });

  it('is refused where that one is not configured, or offers it not', () => {
    const klarna = { KLARNA_ROUTE: 'banxa', KLARNA_PAYMENT_METHOD: 'klarna' };
    const elsewhere = { ...moonpay, PAYPAL_ROUTE: 'wert' };
    expect(problemsOf({ ...live, ...klarna })).toEqual(['KLARNA_ROUTE is banxa, which is not configured.']);
    expect(problemsOf({ ...live, ...moonpay, ...klarna, KLARNA_ROUTE: 'moonpay' })).toEqual([
      'KLARNA_ROUTE must be banxa: KLARNA_ROUTE is set.',
    ]);
    expect(problemsOf({ ...live, ...elsewhere })).toEqual([
      'PAYPAL_ROUTE must be one of moonpay, banxa: PAYPAL_ROUTE is set.',
    ]);
  });
});
