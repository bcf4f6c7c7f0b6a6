import { argon2id } from 'hash-wasm';
import { expect, it } from 'vitest';
import { createPasswords, derive, type HashParameters, requireGoodPassword } from './passwords.ts';

const passwords = createPasswords();

it('hashes the same password differently each time, with its parameters named, and knows both again', async () => {
  const [one, other] = await Promise.all([
    passwords.hash('a password 123'),
    passwords.hash('a password 123'),
  ]);
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(one).not.toBe(other);
  expect(await passwords.verify('a password 123', one)).toBe(true);
  expect(await passwords.verify('a password 123', other)).toBe(true);
  expect(await passwords.verify('a password 124', one)).toBe(false);
});

it('agrees with another implementation of Argon2, also about other parameters', async () => {
  const parameters = { parallelism: 1, iterations: 3, memorySize: 4096, hashLength: 32 } as const;
  const salt = Buffer.from('somesalt12345678');
  const known = await argon2id({ password: 'pässword', salt, ...parameters, outputType: 'encoded' });
  expect(await passwords.verify('pässword', known)).toBe(true);
  expect(await passwords.verify('pässwort', known)).toBe(false);
});

it('takes a password however its letters were composed', async () => {
  const hash = await passwords.hash('Cafe\u0301 au lait 1');
  expect(await passwords.verify('Caf\u00e9 au lait 1', hash)).toBe(true);
});

it('does the same work without a hash to compare with', async () => {
  const derived: Omit<HashParameters, 'salt'>[] = [];
  const watched = createPasswords((password, parameters) => {
    const { memoryKib, passes, lanes } = parameters;
    derived.push({ memoryKib, passes, lanes });
    return derive(password, parameters);
  });
  const hash = await watched.hash('a password 123');
  expect(await watched.verify('a password 124', hash)).toBe(false);
  expect(await watched.verify('a password 124', null)).toBe(false);
  expect(derived).toEqual(Array(3).fill({ memoryKib: 19_456, passes: 2, lanes: 1 }));
});

it('lets a few hash at a time, a few more wait, and refuses the others', async () => {
  const results = await Promise.allSettled(Array.from({ length: 60 }, () => passwords.verify('x', null)));
  const refused = results.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(60 - 2 - 32);
  expect(refused[0]).toMatchObject({ reason: { errorName: 'rate_limited', retryAfterSeconds: 5 } });
  expect(await passwords.verify('x', null)).toBe(false);
});

/** Returns passwords whose hashing waits until `open` is called. */
function startGated() {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const gated = createPasswords(async () => {
    await gate;
    return Buffer.alloc(32);
  });
  const come = (count: number, stranger: string | null) =>
    Array.from({ length: count }, () => gated.verify('x', null, stranger));
  return { open, come };
}

it('lets strangers fill half of the places to wait, and keeps the others for those who are known', async () => {
  const { open, come } = startGated();
  const tries = [...come(60, 'a'), ...come(20, null), ...come(1, 'a')];
  const refused = tries.map((each) => each.catch(() => 'refused'));
  open();
  const results = (await Promise.all(refused)).map((result) => result === 'refused');
  expect(results.slice(0, 60).indexOf(true)).toBe(2 + 16);
  expect(results.slice(2 + 16, 60)).not.toContain(false);
  expect([results.slice(60, 80).indexOf(true), results.at(-1)]).toEqual([16, true]);
});

it('lets no network of strangers keep others from waiting, and serves the networks in turns', async () => {
  const { open, come } = startGated();
  const served: string[] = [];
  const note = (name: string) => (attempt: Promise<boolean>) =>
    attempt.then(
      () => served.push(name),
      () => served.push(`${name} refused`),
    );
  const crowd = come(40, '2001:db8:1::/48').map(note('crowd'));
  const others = [...come(2, '192.0.2.7').map(note('office')), ...come(1, '203.0.113.9').map(note('home'))];
  open();
  await Promise.all([...crowd, ...others]);
  expect(served.filter((name) => name === 'crowd')).toHaveLength(2 + 16 - 3);
  const waited = served.filter((name) => !name.endsWith('refused')).slice(2);
  expect(waited.slice(0, 5)).toEqual(['crowd', 'office', 'home', 'crowd', 'office']);
  for (const words of ['office refused', 'home refused']) expect(served).not.toContain(words);
});

it('refuses a stored hash that is none, whatever the password', async () => {
  await expect(passwords.verify('x', 'plain')).rejects.toThrow('not argon2id');
});

it('takes only passwords that are long, mixed, and no email address', () => {
  const check = (password: string) => () => requireGoodPassword(password, 'anna@shop.example');
  for (const good of ['twelve chars', 'gC3-hX_9tQ2mLw0ZpVbR', 'пароль длинный', '😀🎉🚀🌍🔥🍀🎈🐳🍕⚡🎲🧩'])
    expect(check(good)).not.toThrow();
  for (const poor of ['eleven char', 'abababababab', 'ANNA@shop.example!', 'a'.repeat(201)])
    expect(check(poor)).toThrow('The password must');
});

const wellKnown = `
  passwordpassword PASSWORDpassword1 p@ssw0rd1234 P4$$w0rd!2026 123456789012 qwertyuiopas
  QwertyuiopASDF 1q2w3e4r5t6y7u 1qaz2wsx3edc abcdefghijkl zyxwvutsrqpo welcome12345
  Welcome-2026-! iloveyou12345 administrator letmeinletmein card-checkout Cardcheckout1!
  annaanna12345 Anna-Shop-2026 ｐａｓｓｗｏｒｄ１２３４ йцукенгшщзхъ Pässwörd1234 Contraseña2026!
  motdepasse123 Пароль123456 a1b2c3d4e5f6 1a2b3c4d5e6f aabbccddeeff !@#$%^&*()_+`;

it.each([...wellKnown.trim().split(/\s+/), 'correct horse battery staple'])(
  'refuses the well-known password %s',
  (password) => {
    expect(() => requireGoodPassword(password, 'anna@shop.example')).toThrow(
      'The password is too easy to guess',
    );
  },
);

it.each([
  'correct horse battery',
  'a new password 1',
  'a newer password 2',
  'tortoise under lamp',
  'sunshine over Lisbon',
  'Xk9#mQ2$vL7p',
  'mein langes Passwort',
])('takes %s, which no list has', (password) => {
  expect(() => requireGoodPassword(password, 'anna@shop.example')).not.toThrow();
});
