import { describe, expect, it } from 'vitest';
import { locationOf } from '../payment/callback-url.ts';
import { createCallbackGuard, createCallbackHostCheck, type HostResolution } from './callback-host.ts';

/** Creates a guard whose resolver returns the given resolution. `asked` lists the host names that were looked up. */
function guardWith(
  resolution: HostResolution,
  own: readonly string[] = [],
  baseUrl = 'https://pay.example.com',
) {
  const asked: string[] = [];
  const refuse = () => {
    throw new Error('creation never looks up past the cache');
  };
  const resolver = {
    resolve: async (hostname: string) => {
      asked.push(hostname);
      return resolution;
    },
    resolveFresh: refuse,
    close: refuse,
  };
  const guard = createCallbackGuard(
    { allowedHosts: new Set(['shop.local:9443', 'pay.example.com:9000']), own: locationOf(baseUrl) },
    createCallbackHostCheck(resolver, () => new Set(own)),
  );
  return { guard, asked };
}

const publicAddress: HostResolution = { addresses: ['93.184.216.34'] };
const privateAddress: HostResolution = { addresses: ['10.0.0.1'] };

it('refuses what is wrong as a text without asking anybody', async () => {
  const { guard, asked } = guardWith(publicAddress);
  for (const callback of [
    '',
    'http://shop.example.com',
    'https://user@shop.example.com',
    'https://localhost/x',
  ]) {
    expect(await guard.refusalOf(callback), callback).toMatch(/^must /);
  }
  expect(asked).toEqual([]);
});

it('does not resolve a host of the operator’s list, with exactly its port', async () => {
  const { guard, asked } = guardWith(privateAddress);
  expect(await guard.refusalOf('https://shop.local:9443/hook')).toBeNull();
  expect(asked).toEqual([]);
  expect(await guard.refusalOf('https://shop.local:9444/hook')).toMatch(/^must /);
  expect(await guard.refusalOf('http://shop.local:9443/hook')).toMatch(/^must /);
});

describe("this service's own public name", () => {
  const refusal = 'must not point to this service';

  it.each([
    'https://pay.example.com/pay/1',
    'https://pay.example.com',
    'https://pay.example.com:443/hook',
    'https://PAY.Example.COM/hook',
    'https://pay.example.com./hook',
  ])('is refused as a callback, wherever it resolves to: %s', async (callback) => {
    const { guard, asked } = guardWith(publicAddress);
    expect(await guard.refusalOf(callback)).toBe(refusal);
    expect(asked).toEqual([]);
    const rules = { allowedHosts: new Set<string>(), own: locationOf('https://pay.example.com') };
    expect(await createCallbackGuard(rules).refusalOf(callback)).toBe(refusal);
  });

  it.each([
    'https://example.com/hook',
    'https://shop.example.com/hook',
    'https://shop.pay.example.com/hook',
    'https://pay.example.com:8443/hook',
    'https://pay.example.com:9000/hook',
  ])('says nothing against another host, port or a host of the operator’s list: %s', async (callback) => {
    expect(await guardWith(publicAddress).guard.refusalOf(callback)).toBeNull();
  });

  it('is refused below the path of BASE_URL only, where a shop shares the host', async () => {
    const { guard } = guardWith(publicAddress, [], 'https://example.com/checkout/');
    const disguised = ['/%63heckout/pay/1', '//checkout/pay/1', '/%2Fcheckout/x'];
    for (const path of ['/checkout', '/checkout/', '/checkout/pay/1', '/shop/../checkout/x', ...disguised]) {
      expect(await guard.refusalOf(`https://example.com${path}`), path).toBe(refusal);
    }
    for (const path of ['', '/hook', '/checkouts', '/shop/checkout']) {
      expect(await guard.refusalOf(`https://example.com${path}`), path).toBeNull();
    }
  });
});
