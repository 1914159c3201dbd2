/** Returns the reason why a certificate and a key do not match, with the message of Go's TLS library; undefined if they do. */

import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

interface Block {
  readonly type: string;
  readonly text: string;
}

const pem = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g;
const blocksOf = (base64: string | undefined): Block[] =>
  [
    ...Buffer.from(base64 ?? '', 'base64')
      .toString('latin1')
      .matchAll(pem),
  ].map(([text, type = '']) => ({ type, text }));

const isKey = ({ type }: Block): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');

/** Both as the API carries them: in base64. */
export function keyPairProblem(certificate: string | undefined, key: string | undefined): string | undefined {
  const certificates = blocksOf(certificate);
  const leaf = certificates.find(({ type }) => type === 'CERTIFICATE');
  if (!leaf) return certificateProblem(certificates);
  const keys = blocksOf(key);
  const privateKey = keys.find(isKey);
  if (!privateKey) return keyProblem(keys);
  const certified = publicKeyOf(leaf.text);
  const own = publicKeyOfPrivate(privateKey.text);
  if (!certified) return 'x509: malformed certificate';
  if (!own) return 'tls: failed to parse private key';
  return certified.equals(own) ? undefined : 'tls: private key does not match public key';
}

function certificateProblem(blocks: readonly Block[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in certificate input';
  if (blocks.length === 1 && isKey(blocks[0]!)) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${typesOf(blocks)}`;
}

function keyProblem(blocks: readonly Block[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in key input';
  if (blocks.length === 1 && blocks[0]!.type === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  }
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${typesOf(blocks)}`;
}

const typesOf = (blocks: readonly Block[]): string => `[${blocks.map(({ type }) => type).join(' ')}]`;

function publicKeyOf(certificate: string): KeyObject | undefined {
  try {
    return createPublicKey(certificate);
  } catch {
    return undefined;
  }
}

function publicKeyOfPrivate(key: string): KeyObject | undefined {
  try {
    return createPublicKey(createPrivateKey(key));
  } catch {
    return undefined;
  }
}
