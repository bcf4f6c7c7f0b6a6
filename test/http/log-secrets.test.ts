import { expect, it } from 'vitest';
import { type ApiService, useFreshApi, validRequest } from '../support/api-service.ts';

let service = {} as ApiService;
useFreshApi((api) => (service = api), { requestsPerMinute: 1_000_000 });

const note = 'canary-note-5512';
const email = 'canary-5512@example.com';

it('tells the metrics of every request, with patterns as routes', async () => {
  await service.post(validRequest);
  await service.status({ payment_id: 'x' });
  await service.server.inject({ method: 'GET', url: '/nowhere/secret' });
  expect(service.observed).toEqual([
    ['/api/v1/wallet', 'POST', 200, expect.any(Number)],
    ['/api/v1/payment-status', 'GET', 404, expect.any(Number)],
    ['unmatched', 'GET', 404, expect.any(Number)],
  ]);
});

it('never logs a key, a token, an email address, a note or a query, also not of errors that quote them', async () => {
  const created = await service.post({ ...validRequest, email, note });
  const { ipn_token } = created.json();
  const fields = { ...validRequest, email, note };
  const quoting = [service.apiKey, ipn_token, email, `GET /api/v1/wallet?note=${note} failed`].join(' | ');
  service.world.quote = async () => {
    throw new Error(quoting, { cause: new Error(quoting) });
  };
  for (let index = 0; index < 2; index++) {
    await service.status({ ipn_token });
    await service.get(fields);
    await service.get({ ...fields, provider: 'wert' });
    await service.post({ ...fields, provider: 'wert' });
    await service.status({ ipn_token, api_key: service.apiKey });
    await service.server.inject({
      method: 'GET',
      url: `/${'x'.repeat(10)}?ipn_token=${ipn_token}&email=${email}`,
    });
    await service.server.inject({ method: 'GET', url: `/api/v1/payment-status%zz?ipn_token=${ipn_token}` });
  }
  const log = service.logLines.join('');
  expect(log).toContain('request failed');
  for (const secret of [
    service.apiKey,
    service.apiKey.slice(13),
    ipn_token,
    ipn_token.slice(42),
    email,
    note,
  ]) {
    for (const words of [secret, encodeURIComponent(secret)]) expect(log).not.toContain(words);
  }
});
