/** Requests for certificates (PKCS #10): well formed, and signed with the key that they are for. */

import { createPublicKey, verify } from 'node:crypto';
import { readElements, readObjectIdentifier } from './der.ts';
import { pemBlocks } from './pem.ts';

const digests: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.5': 'sha1',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.1': 'sha1',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
};

/** Returns the reason why it is invalid, with Kubernetes' message if it has one; undefined if it is valid. */
export function certificateRequestProblem(pem: string): string | undefined {
  const block = pemBlocks(pem)[0];
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  const request = readElements(block.bytes)?.[0];
  if (!request) return 'asn1: syntax error: data truncated';
  const [info, algorithm, signature] = readElements(request.content) ?? [];
  const fields = info && readElements(info.content);
  const key = fields?.[2];
  const identifier = algorithm && readElements(algorithm.content)?.[0];
  if (!info || !key || !identifier || !signature) return "asn1: structure error: tags don't match";
  const digest = digests[readObjectIdentifier(identifier.content)];
  if (digest === undefined) return 'x509: cannot verify signature: algorithm unimplemented';
  return isSigned(info.whole, key.whole, signature.content.subarray(1), digest) ? undefined : 'x509: invalid signature';
}

function isSigned(data: Uint8Array, key: Uint8Array, signature: Uint8Array, digest: string | null): boolean {
  try {
    return verify(digest, data, createPublicKey({ key: Buffer.from(key), format: 'der', type: 'spki' }), signature);
  } catch {
    return false;
  }
}
