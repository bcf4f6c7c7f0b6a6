import { createPrivateKey, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { expect, it } from 'vitest';
import { signCompact } from './coinbase.ts';

it('signs with Ed25519 as RFC 8037, appendix A.4, does', async () => {
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'OKP',
      crv: 'Ed25519',
      d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    },
  });
  expect(await signCompact(key, {}, 'Example of Ed25519 signing')).toBe(
    'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.' +
      'hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
  );
});

it('signs with P-256 so that the two halves of the signature verify as RFC 7515 wants them', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const token = await signCompact(privateKey, { kid: 'a' }, '{}');
  const [header = '', payload = '', signature = ''] = token.split('.');
  expect(Buffer.from(header, 'base64url').toString()).toBe('{"alg":"ES256","kid":"a"}');
  const bytes = Buffer.from(signature, 'base64url');
  expect(bytes).toHaveLength(64);
  // Put into DER by hand, so that nothing of how it was signed is used to verify it.
  const integer = (half: Buffer) => {
    const trimmed = half.subarray(half.findIndex((byte) => byte !== 0));
    const positive = (trimmed[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed;
    return Buffer.concat([Buffer.from([2, positive.length]), positive]);
  };
  const content = Buffer.concat([integer(bytes.subarray(0, 32)), integer(bytes.subarray(32))]);
  const der = Buffer.concat([Buffer.from([0x30, content.length]), content]);
  expect(verify('sha256', Buffer.from(`${header}.${payload}`), publicKey, der)).toBe(true);
});

it('verifies the example of RFC 7515, appendix A.3, with the key that is given there', () => {
  // Shows that the halves above stand as in the example, and not only as we wrote them.
  const key = createPublicKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    },
  });
  const signed =
    'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ';
  const signature = 'DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q';
  const given = { key, dsaEncoding: 'ieee-p1363' } as const;
  expect(verify('sha256', Buffer.from(signed), given, Buffer.from(signature, 'base64url'))).toBe(true);
});

it('does not sign with a key of another kind', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
  await expect(signCompact(privateKey, {}, '{}')).rejects.toThrow('neither Ed25519 nor P-256');
});
