import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { ProviderSettingError } from '../../src/providers/adapters/define-provider.ts';
import { someSession, useStage } from './stage.ts';

const stage = useStage();

const pemOf = (type: 'ed25519' | 'x25519') => {
  const { privateKey } = type === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519');
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
};

it('signs an address so that only what was signed opens it, for a while', async () => {
  const { redirectUrl } = await stage.adapterOf('rampnetwork').startSession(someSession);
  expect((await fetch(redirectUrl)).status).toBe(200);
  for (const altered of [
    redirectUrl.replace('inAssetValue=10000', 'inAssetValue=100'),
    redirectUrl.replace(/timestamp=\d/, 'timestamp=9'),
    redirectUrl.replace(/&signature=.*/, ''),
    `${redirectUrl}&userAddress=0x52908400098527886E0F7030069857D2E4169EE7`,
  ]) {
    expect(altered).not.toBe(redirectUrl);
    expect((await fetch(altered)).status).toBe(400);
  }
  stage.advance(61 * 60_000);
  expect((await fetch(redirectUrl)).status).toBe(400);
});

it('with another key opens nothing', async () => {
  const adapter = stage.adapterOf('rampnetwork', { values: { SIGNING_KEY: pemOf('ed25519') } });
  const { redirectUrl } = await adapter.startSession(someSession);
  expect((await fetch(redirectUrl)).status).toBe(400);
});

it.each([
  ['SIGNING_KEY', 'not a key'],
  ['SIGNING_KEY', pemOf('x25519')],
  ['WEBHOOK_PUBLIC_KEY', pemOf('ed25519')],
])('refuses to start with a %s of another kind, and does not repeat it', (name, value) => {
  const create = () => stage.adapterOf('rampnetwork', { values: { [name]: value } });
  expect(create).toThrow(ProviderSettingError);
  expect(create).toThrow(`RAMPNETWORK_${name} is no key of the right kind.`);
});
