/** The other end of a TLS connection. */

import { hash } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { ClientCertificate, Peer } from './message.ts';

export function peerOf(socket: TLSSocket): Peer {
  return { address: socket.remoteAddress ?? '', certificate: certificateOf(socket) };
}

const uidOfUsers = '1.3.6.1.4.1.57683.2';

function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  // Only what TLS verified against our own CAs counts.
  if (!socket.authorized) return undefined;
  const certificate = socket.getPeerCertificate();
  const subject = certificate?.subject as unknown as Record<string, string | string[] | undefined> | undefined;
  if (!subject) return undefined;
  const { CN: names, O: organizations, [uidOfUsers]: uid } = subject;
  // Two of them are nobody's, where there must be one.
  if (Array.isArray(uid)) return undefined;
  const { raw } = certificate;
  return {
    // Of several names the last counts, as Go has it: an administrator sees the same user everywhere.
    commonName: [names].flat().at(-1) ?? '',
    organizations: [organizations ?? []].flat(),
    expiresAt: Date.parse(certificate.valid_to),
    ...(uid ? { uid } : {}),
    digest: () => hash('sha256', raw),
    chain: () => chainOf(socket),
  };
}

/** As far as the client sent it; the last may be one of ours. */
function chainOf(socket: TLSSocket): Uint8Array[] {
  const chain: Uint8Array[] = [];
  const seen = new Set<string>();
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (certificate?.raw && !seen.has(certificate.fingerprint256) && chain.length < chainLengthMax) {
    seen.add(certificate.fingerprint256);
    chain.push(certificate.raw);
    certificate = certificate.issuerCertificate;
  }
  return chain;
}

const chainLengthMax = 10;
