import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { invalidField, ServiceError } from '../payment/errors.ts';
import { isWellKnown } from './well-known-passwords.ts';

/** OWASP's minimum parameters for Argon2id: 19 MiB, two passes, one lane. A hash takes about 40 ms. */
const current = { memoryKib: 19_456, passes: 2, lanes: 1 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Maximum concurrent hashes. Each uses 19 MiB and one of libuv's four threads, which file operations also use. */
const MAXIMUM_RUNNING = 2;
/** Maximum queue length. Further requests would wait for seconds and are refused. */
const MAXIMUM_WAITING = 32;
/** Maximum queued requests from strangers. The rest of the queue is for signed-in users and known browsers. */
const MAXIMUM_WAITING_FOR_STRANGERS = 16;

const MINIMUM_CHARACTERS = 12;
const MAXIMUM_CHARACTERS = 200;
const MINIMUM_DIFFERENT_CHARACTERS = 5;

export type Passwords = ReturnType<typeof createPasswords>;

export interface HashParameters extends Readonly<Record<keyof typeof current, number>> {
  readonly salt: Buffer;
}

type DeriveKey = (password: string, parameters: HashParameters) => Promise<Buffer>;

interface Hash extends HashParameters {
  readonly hash: Buffer;
}

const phcPattern =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{43})$/;

/** @param deriveKey Argon2id by default; tests replace this function */
export function createPasswords(deriveKey: DeriveKey = derive) {
  const limited = createConcurrencyLimit();
  const dummy: Hash = { ...current, salt: randomBytes(SALT_BYTES), hash: randomBytes(HASH_BYTES) };
  return {
    /** Returns a hash in the PHC string format. Throws `rate_limited` if the queue is full. */
    hash: (password: string) =>
      limited(async () => {
        const salt = randomBytes(SALT_BYTES);
        return textOf({ ...current, salt, hash: await deriveKey(password, { ...current, salt }) });
      }),
    /**
     * Returns whether the password matches. Without a hash, returns false after the same time, so that timing does not
     * reveal which users exist. Throws `rate_limited` if the queue is full, or its part for strangers.
     *
     * @param stranger network of a stranger; null for signed-in users and known browsers
     */
    verify: (password: string, text: string | null, stranger: string | null = null) =>
      limited(async () => {
        const expected = text === null ? dummy : parseHash(text);
        const isEqual = timingSafeEqual(await deriveKey(password, expected), expected.hash);
        return isEqual && text !== null;
      }, stranger),
  };
}

/** Throws a 400 with the reason if a new password is too weak. */
export function requireGoodPassword(password: string, email: string): void {
  const characters = [...password];
  const refused = (rule: string) => invalidField('The password', rule, 'new_password');
  if (characters.length < MINIMUM_CHARACTERS || characters.length > MAXIMUM_CHARACTERS)
    throw refused(`must have ${MINIMUM_CHARACTERS} to ${MAXIMUM_CHARACTERS} characters.`);
  if (new Set(characters).size < MINIMUM_DIFFERENT_CHARACTERS)
    throw refused(`must have at least ${MINIMUM_DIFFERENT_CHARACTERS} different characters.`);
  if (password.toLowerCase().includes(email) || email.includes(password.toLowerCase()))
    throw refused('must differ from your email address.');
  if (isWellKnown(password, email))
    throw refused(
      'is too easy to guess: it is a well-known password, or made of one word, repeats or a row of keys.',
    );
}

const runArgon2 = promisify<'argon2id', Argon2Parameters, Buffer>(argon2);

export function derive(
  password: string,
  { memoryKib, passes, lanes, salt }: HashParameters,
): Promise<Buffer> {
  return runArgon2('argon2id', {
    // Normalizes the password, because keyboards may encode the same letter as different Unicode sequences.
    message: Buffer.from(password.normalize('NFKC')),
    nonce: salt,
    memory: memoryKib,
    passes,
    parallelism: lanes,
    tagLength: HASH_BYTES,
  });
}

function textOf({ memoryKib, passes, lanes, salt, hash }: Hash): string {
  const withoutPadding = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$${withoutPadding(salt)}$${withoutPadding(hash)}`;
}

function parseHash(text: string): Hash {
  const match = phcPattern.exec(text);
  if (match === null) throw new Error('a stored password hash is not argon2id in the PHC string format');
  const [, memory, passes, lanes, salt = '', hash = ''] = match;
  return {
    memoryKib: Number(memory),
    passes: Number(passes),
    lanes: Number(lanes),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}

interface Waiter {
  readonly stranger: string | null;
  /** Number of tasks of the same network that waited already when this task came. Lower rounds run first. */
  readonly round: number;
  start(): void;
  refuse(error: ServiceError): void;
}

/** Limits concurrent tasks. Strangers' networks take turns. A full queue drops a task of the busiest network. */
function createConcurrencyLimit() {
  const waiting: Waiter[] = [];
  let running = 0;
  const countOf = (stranger: string) => waiting.filter((waiter) => waiter.stranger === stranger).length;

  /** Makes room for a stranger's task. Returns false if no other network has more tasks in the queue. */
  function makeRoom(stranger: string): boolean {
    const strangers = waiting.filter((waiter) => waiter.stranger !== null);
    if (strangers.length < MAXIMUM_WAITING_FOR_STRANGERS) return true;
    const last = strangers.reduce((most, waiter) => (waiter.round >= most.round ? waiter : most));
    if (last.round <= countOf(stranger)) return false;
    waiting.splice(waiting.indexOf(last), 1);
    last.refuse(tooMany());
    return true;
  }

  function wait(stranger: string | null): Promise<void> {
    if (waiting.length >= MAXIMUM_WAITING || (stranger !== null && !makeRoom(stranger))) throw tooMany();
    const round = stranger === null ? 0 : countOf(stranger);
    const later = waiting.findIndex((waiter) => waiter.round > round);
    const { promise, resolve: start, reject: refuse } = Promise.withResolvers<void>();
    waiting.splice(later === -1 ? waiting.length : later, 0, { stranger, round, start, refuse });
    return promise;
  }

  return async function limited<T>(work: () => Promise<T>, stranger: string | null = null): Promise<T> {
    if (running < MAXIMUM_RUNNING) running++;
    else await wait(stranger);
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next.start();
    }
  };
}

function tooMany(): ServiceError {
  return new ServiceError('rate_limited', 'Too many sign-ins are in progress. Retry after 5 s.', {
    retryAfterSeconds: 5,
  });
}
