import './reflect-metadata.ts';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  type JsonGeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

export interface TestCertificateRequest {
  /** DNS names and IP addresses the certificate is for. */
  readonly names: readonly string[];
  /** Default: an hour ago. */
  readonly notBefore?: Date;
  /** Default: in a day. */
  readonly notAfter?: Date;
}

export interface TestCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface TestCertificateAuthority {
  /** To be trusted by the client under test (`ca`, or a file named by `NODE_EXTRA_CA_CERTS`). */
  readonly caPem: string;
  issue(request: TestCertificateRequest): Promise<TestCertificate>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const HOUR_MS = 3_600_000;

type KeyPair = webcrypto.CryptoKeyPair;

/** Makes an authority that exists as long as the test does: no key is kept in the repository. */
export async function createTestCertificateAuthority(): Promise<TestCertificateAuthority> {
  const keys = await generateKeys();
  // A name of its own: of two with the same name the wrong one would be asked to verify.
  const name = `CN=Test Certificate Authority ${randomBytes(8).toString('hex')}`;
  const root = await certify({ names: [] }, name, keys, { name, keys }, [
    new BasicConstraintsExtension(true, 0, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
  ]);
  return { caPem: root.certPem, issue: (request) => createLeaf(request, { name, keys }) };
}

/** A server certificate that only vouches for itself. */
export function createSelfSignedCertificate(request: TestCertificateRequest): Promise<TestCertificate> {
  return createLeaf(request, null);
}

interface Issuer {
  readonly name: string;
  readonly keys: KeyPair;
}

async function createLeaf(request: TestCertificateRequest, issuer: Issuer | null): Promise<TestCertificate> {
  const keys = await generateKeys();
  const name = `CN=${request.names[0] ?? 'nobody'}`;
  const names = request.names.map(
    (value): JsonGeneralName => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }),
  );
  return certify(request, name, keys, issuer ?? { name, keys }, [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension(names),
  ]);
}

async function certify(
  { notBefore, notAfter }: TestCertificateRequest,
  subject: string,
  keys: KeyPair,
  issuer: Issuer,
  extensions: Extension[],
): Promise<TestCertificate> {
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: `01${randomBytes(15).toString('hex')}`,
      notBefore: notBefore ?? new Date(Date.now() - HOUR_MS),
      notAfter: notAfter ?? new Date(Date.now() + 24 * HOUR_MS),
      signingAlgorithm: ALGORITHM,
      subject,
      issuer: issuer.name,
      publicKey: keys.publicKey,
      signingKey: issuer.keys.privateKey,
      extensions,
    },
    webcrypto,
  );
  const privateKey = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { certPem: certificate.toString('pem'), keyPem: PemConverter.encode(privateKey, 'PRIVATE KEY') };
}

function generateKeys(): Promise<KeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}
