/**
 * `node --import register.ts?folder=…`: puts kill points around the ports of a service from outside, without a build and
 * without the service knowing: whoever imports one of these modules gets one that wraps it.
 */
import { registerHooks } from 'node:module';
import { openKillFolder } from './reach.ts';

const wrappers = new Map(
  [
    ['store/sqlite/open-store.ts', 'sqlite-store.ts'],
    ['store/postgres/open-store.ts', 'postgres-store.ts'],
    ['chain/relayer.ts', 'relayer.ts'],
    ['webhooks/socket-request.ts', 'socket-request.ts'],
  ].map(([module, wrapper]) => [
    new URL(`../../../src/${module}`, import.meta.url).href,
    new URL(`wrappers/${wrapper}`, import.meta.url).href,
  ]),
);

openKillFolder(new URL(import.meta.url).searchParams.get('folder') as string);
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const wrapper = wrappers.get(found.url);
    return wrapper === undefined || context.parentURL === wrapper ? found : { ...found, url: wrapper };
  },
});
