import { expect, it } from 'vitest';
import { servePassThrough } from './serve-json.ts';
import { someSession, useStage } from './stage.ts';

const stage = useStage();

const REFRESH = '/api/partners/api/v2/refresh-token';
const ours = { headers: { referer: 'https://pay.example.com/' } };

/** Passes everything on to the simulated on-ramp and remembers the paths. */
async function startRecorder() {
  const upstream = stage.valuesOf('transak')['BASE_URL'] as string;
  const { url: BASE_URL, asked } = await servePassThrough(upstream, () => null);
  return {
    BASE_URL,
    count: (path: string) => asked.filter((each) => each.endsWith(` ${path}`)).length,
  };
}

it('fetches one access token for all who need it at the same time, and uses it again', async () => {
  const recorder = await startRecorder();
  const adapter = stage.adapterOf('transak', { values: { BASE_URL: recorder.BASE_URL } });
  const sessions = await Promise.all(Array.from({ length: 8 }, () => adapter.startSession(someSession)));
  await adapter.startSession(someSession);
  expect(new Set(sessions.map(({ redirectUrl }) => redirectUrl)).size).toBe(8);
  expect(recorder.count(REFRESH)).toBe(1);
});

it('goes on when somebody else with the same account has ended the access token', async () => {
  const [mine, others] = [stage.adapterOf('transak'), stage.adapterOf('transak')];
  for (const adapter of [mine, others, mine, others]) {
    const { redirectUrl } = await adapter.startSession(someSession);
    expect((await fetch(redirectUrl, ours)).status).toBe(200);
  }
});

it('fetches another access token when the first is about to end', async () => {
  const recorder = await startRecorder();
  const adapter = stage.adapterOf('transak', { values: { BASE_URL: recorder.BASE_URL } });
  await adapter.startSession(someSession);
  stage.advance(7 * 24 * 60 * 60_000 - 30_000);
  await adapter.startSession(someSession);
  expect(recorder.count(REFRESH)).toBe(2);
});

it('leads to an address that opens once, within five minutes, and only from the checkout', async () => {
  const adapter = stage.adapterOf('transak');
  expect(adapter.opensOnce).toBe(true);
  const { redirectUrl, expiresAtMs } = await adapter.startSession(someSession);
  expect((await fetch(redirectUrl)).status).toBe(403);
  expect((await fetch(redirectUrl, { headers: { referer: 'https://elsewhere.example/' } })).status).toBe(403);
  expect((await fetch(redirectUrl, ours)).status).toBe(200);
  expect((await fetch(redirectUrl, ours)).status).toBe(410);

  const late = await adapter.startSession(someSession);
  expect(late.expiresAtMs).toBeGreaterThanOrEqual(expiresAtMs);
  stage.advance(5 * 60_000);
  expect((await fetch(late.redirectUrl, ours)).status).toBe(410);
});

it.each([
  ['API_SECRET', 'provider_inactive'],
  ['API_KEY', 'provider_inactive'],
])('is inactive with a wrong %s', async (name, errorName) => {
  const adapter = stage.adapterOf('transak', { values: { [name]: 'wrong' } });
  await expect(adapter.startSession(someSession)).rejects.toMatchObject({ errorName });
});
