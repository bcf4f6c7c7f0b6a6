import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A security key in software, which signs whatever it is told to, also what no browser would. */
export interface Authenticator {
  readonly id: string;
  make(challenge: string, origin: string): string;
  /** An answer to a form that asks for it; counts up unless it is told its count. */
  use(challenge: string, origin: string, counter?: number): string;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** @param ofUser id of the user whom the device verifies and for whom it keeps a passkey that it finds by itself */
export function createAuthenticator(host: string, ofUser?: string): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  let count = 0;
  const present = ofUser === undefined ? USER_PRESENT : USER_PRESENT | USER_VERIFIED;
  const clientData = (type: string, challenge: string, origin: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const data = (flags: number, counter: number, ...rest: Buffer[]) => {
    const head = Buffer.alloc(5);
    head.writeUInt8(flags);
    head.writeUInt32BE(counter, 1);
    return Buffer.concat([createHash('sha256').update(host).digest(), head, ...rest]);
  };
  const answer = (response: object) => {
    const name = id.toString('base64url');
    return JSON.stringify({
      id: name,
      rawId: name,
      type: 'public-key',
      clientExtensionResults: ofUser === undefined ? {} : { credProps: { rk: true } },
      response,
    });
  };
  return {
    id: id.toString('base64url'),
    make(challenge, origin) {
      // COSE: an EC2 key (1: 2) for ES256 (3: -7) on P-256 (-1: 1), with x (-2) and y (-3).
      const key = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ]);
      const length = Buffer.from([0, id.length]);
      const authData = data(present | HAS_CREDENTIAL, 0, Buffer.alloc(16), length, id, key);
      // CBOR: { "fmt": "none", "attStmt": {}, "authData": bytes }
      const attestationObject = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
        Buffer.from([authData.length]),
        authData,
      ]);
      return answer({
        clientDataJSON: clientData('webauthn.create', challenge, origin).toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal'],
      });
    },
    use(challenge, origin, counter = ++count) {
      const client = clientData('webauthn.get', challenge, origin);
      const authenticatorData = data(present, counter);
      const signed = Buffer.concat([authenticatorData, createHash('sha256').update(client).digest()]);
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: authenticatorData.toString('base64url'),
        ...(ofUser === undefined ? {} : { userHandle: Buffer.from(ofUser).toString('base64url') }),
        signature: sign('sha256', signed, privateKey).toString('base64url'),
      });
    },
  };
}

/** What a page asks a browser to sign; '' where it asks for nothing. */
export function challengeIn(page: string): string {
  const [, options = ''] = /data-options="([^"]+)"/.exec(page) ?? [];
  const json = options.replaceAll(/&#(\d+);/g, (_entity, code) => String.fromCodePoint(Number(code)));
  return JSON.parse(json === '' ? '{}' : json).challenge ?? '';
}

/** The key of an authenticator app that a page offers, and the field that hands it back sealed. */
export const offeredIn = (page: string) => ({
  key: (/<dt>Key<\/dt><dd><code>([A-Z2-7 ]+)</.exec(page)?.[1] ?? '').replaceAll(' ', ''),
  sealed: /name="sealed" value="([^"]+)"/.exec(page)?.[1] ?? '',
});

export const recoveryCodesIn = (page: string): string[] =>
  page.match(/(?<=<code>)[a-z2-7]{4}(?:-[a-z2-7]{4}){3}/g) ?? [];
