import './reflect-metadata.ts';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type JsonGeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
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
  const root = await X509CertificateGenerator.createSelfSigned(
    {
      ...commonFields({ names: [] }),
      // A name of its own: of two with the same name the wrong one would be asked to verify.
      name: `CN=Test Certificate Authority ${randomBytes(8).toString('hex')}`,
      keys,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      ],
    },
    webcrypto,
  );
  return { caPem: root.toString('pem'), issue: (request) => issueLeaf(root, keys, request) };
}

/** A server certificate that only vouches for itself. */
export async function createSelfSignedCertificate(request: TestCertificateRequest): Promise<TestCertificate> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned(
    { ...commonFields(request), name: subjectOf(request), keys, extensions: leafExtensions(request) },
    webcrypto,
  );
  return toPem(certificate, keys);
}

async function issueLeaf(
  root: X509Certificate,
  rootKeys: KeyPair,
  request: TestCertificateRequest,
): Promise<TestCertificate> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.create(
    {
      ...commonFields(request),
      issuer: root.subject,
      subject: subjectOf(request),
      publicKey: keys.publicKey,
      signingKey: rootKeys.privateKey,
      extensions: leafExtensions(request),
    },
    webcrypto,
  );
  return toPem(certificate, keys);
}

function commonFields(request: TestCertificateRequest) {
  return {
    serialNumber: `01${randomBytes(15).toString('hex')}`,
    notBefore: request.notBefore ?? new Date(Date.now() - HOUR_MS),
    notAfter: request.notAfter ?? new Date(Date.now() + 24 * HOUR_MS),
    signingAlgorithm: ALGORITHM,
  };
}

function subjectOf(request: TestCertificateRequest): string {
  return `CN=${request.names[0] ?? 'nobody'}`;
}

function leafExtensions(request: TestCertificateRequest) {
  const names = request.names.map(
    (value): JsonGeneralName => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }),
  );
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension(names),
  ];
}

function generateKeys(): Promise<KeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function toPem(certificate: X509Certificate, keys: KeyPair): Promise<TestCertificate> {
  const privateKey = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { certPem: certificate.toString('pem'), keyPem: PemConverter.encode(privateKey, 'PRIVATE KEY') };
}
