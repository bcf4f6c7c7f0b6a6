import type { StubDnsAnswer } from '../../support/dns-server.ts';
import type { Draws } from '../simulation/draws.ts';
import { type DrawnAddress, drawAddress, drawIpv4 } from './draw-address.ts';

/** A callback and what becomes of its name: one answer when the payment is made, another when the webhook is sent. */
export interface DrawnCallback {
  readonly url: string;
  /** What DNS says of the name at creation, and then at delivery. */
  readonly atCreation: StubDnsAnswer;
  readonly atDelivery: StubDnsAnswer;
  /** The only addresses that a request may go to, in canonical spelling. */
  readonly allowed: ReadonlySet<string>;
  /** Whether nothing stands against the request, so that it has to arrive. */
  readonly mustArrive: boolean;
  /** Addresses of this machine itself. */
  readonly own: readonly string[];
  /** Where the receiver sends whoever asks; null for a plain answer. */
  readonly redirect: string | null;
}

type Kind = 'name' | 'private literal' | 'private name' | 'own address';
const kinds = [
  'name',
  'name',
  'name',
  'name',
  'private literal',
  'private name',
  'own address',
] as const satisfies readonly Kind[];

const PRIVATE_NAMES = [
  'localhost',
  'localhost.',
  'receiver',
  'printer.local',
  'db.internal',
  'shop.lan',
  'a.home.arpa',
  'metadata.google.internal',
  'metadata.goog',
  'kubernetes.default.svc',
  'x.localhost',
  'y.corp',
  'local%68ost',
  'ｌｏｃａｌｈｏｓｔ',
  '127。0。0。1',
  'shop.example.onion',
  'api.svc',
  'LOCALHOST',
] as const;

export function drawCallback(draws: Draws, number: number): DrawnCallback {
  const port = draws.oneOf(['', '', ':443', ':8443', ':22']);
  const path = `/hook/${number}`;
  const kind = draws.oneOf(kinds);
  const redirect = draws.chance(25) ? `https://${drawIpv4(draws, false)}/` : null;
  const nothing = { allowed: new Set<string>(), mustArrive: false, own: [], redirect };
  if (kind === 'private literal') {
    const unasked = { atCreation: {}, atDelivery: answerOf(draws, [drawAddress(draws, 'public')]) };
    return { ...nothing, ...unasked, url: `https://${drawLiteral(draws)}${port}${path}` };
  }
  if (kind === 'private name') {
    // However public the answer is: such a name is never asked for.
    const answer = answerOf(draws, [drawAddress(draws, draws.oneOf(['public', 'private']))]);
    const url = `https://${draws.oneOf(PRIVATE_NAMES)}${port}${path}`;
    return { ...nothing, atCreation: answer, atDelivery: answer, url };
  }

  const url = `https://shop-${number}.example.com${draws.oneOf(['', '.'])}${port}${path}`;
  const before = [drawAddress(draws, 'public')];
  if (kind === 'own address') {
    const [own, other] = [drawAddress(draws, 'public'), drawAddress(draws, 'public')];
    const after = answerOf(draws, draws.chance(50) ? [own] : draws.shuffled([own, other]));
    return { ...nothing, atCreation: answerOf(draws, before), atDelivery: after, own: [own.text], url };
  }
  const after = drawAddresses(draws);
  const isClean = after.every(({ isPublic }) => isPublic);
  return {
    ...nothing,
    url,
    atCreation: answerOf(draws, draws.chance(70) ? before : after),
    atDelivery: answerOf(draws, after),
    allowed: new Set(isClean ? after.map(({ text }) => text) : []),
    mustArrive: isClean,
  };
}

/** What a name leads to when the webhook is sent: all public, all private, or a private one hidden among public ones. */
function drawAddresses(draws: Draws): DrawnAddress[] {
  const some = (wanted: 'public' | 'private') =>
    Array.from({ length: draws.between(1, 4) }, () => drawAddress(draws, wanted));
  const story = draws.oneOf(['public', 'private', 'mixed', 'mixed'] as const);
  return story === 'mixed' ? draws.shuffled([...some('public'), ...some('private')]) : some(story);
}

function answerOf(draws: Draws, addresses: readonly DrawnAddress[]): StubDnsAnswer {
  const textsOf = (family: 4 | 6) => addresses.filter((one) => one.family === family).map(({ text }) => text);
  const alias = draws.chance(20) ? { CNAME: `alias-${draws.hex(6)}.example.net` } : {};
  return { A: textsOf(4), AAAA: textsOf(6), ttlSeconds: draws.oneOf([0, 0, 60]), ...alias };
}

/** A private address as a URL may spell it. */
function drawLiteral(draws: Draws): string {
  const text = drawIpv4(draws, false);
  const octets = text.split('.').map(Number);
  const number = octets.reduce((value, octet) => value * 256 + octet, 0);
  const [first, ...others] = octets;
  const { text: any, family } = drawAddress(draws, 'private');
  return draws.oneOf([
    text,
    `${text}.`,
    String(number),
    `0x${number.toString(16)}`,
    `0${number.toString(8)}`,
    `0x${first?.toString(16)}.${others.join('.')}`,
    `0${first?.toString(8)}.${others.join('.')}`,
    `[::ffff:${text}]`,
    family === 6 ? `[${any}]` : any,
    text.replaceAll('.', '。'),
  ]);
}
