/**
 * `node --import register.ts?folder=…`: puts kill points around the ports of a service from outside, without a build and
 * without the service knowing: whoever imports one of these modules gets one that wraps it.
 */
import { registerHooks } from 'node:module';
import { openKillFolder } from './reach.ts';

const wrappers = new Map(
  [
    ['app/store/sqlite-store.ts', 'sqlite-store.ts'],
    ['app/store/postgres-store.ts', 'postgres-store.ts'],
    ['settlement/chain/relayer.ts', 'relayer.ts'],
  ].map(([module = '', wrapper = '']) => [sourceOf(module), wrapperOf(wrapper)]),
);
const delivery = sourceOf('webhooks/deliver.ts');

function sourceOf(module: string): string {
  return new URL(`../../../src/${module}`, import.meta.url).href;
}

function wrapperOf(name: string): string {
  return new URL(`wrappers/${name}`, import.meta.url).href;
}

openKillFolder(new URL(import.meta.url).searchParams.get('folder') as string);
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isDeliveryRequest = found.url === 'node:http' && context.parentURL === delivery;
    const wrapper = isDeliveryRequest ? wrapperOf('node-http.ts') : wrappers.get(found.url);
    return wrapper === undefined || context.parentURL === wrapper ? found : { ...found, url: wrapper };
  },
});
