/** The client of a TLS connection. */

import { hash } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { ClientCertificate, Peer } from './message.ts';
import { subjectOf } from './subject.ts';

export function peerOf(socket: TLSSocket): Peer {
  const { servername } = socket;
  // A certificate that TLS verified is never exposed as unverified.
  const unverified = socket.authorized ? undefined : socket.getPeerX509Certificate();
  return {
    address: socket.remoteAddress ?? '',
    certificate: certificateOf(socket),
    ...(servername ? { serverName: servername.toLowerCase() } : {}),
    ...(unverified ? { unverified: { der: () => unverified.raw } } : {}),
  };
}

function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  // Only certificates that TLS verified against our own CAs count.
  if (!socket.authorized) return undefined;
  const certificate = socket.getPeerCertificate();
  const subject = subjectOf(certificate?.subject);
  if (!subject) return undefined;
  const { raw } = certificate;
  return {
    ...subject,
    expiresAt: Date.parse(certificate.valid_to),
    digest: () => hash('sha256', raw),
    chain: () => chainOf(socket),
  };
}

/** Returns the chain that the client sent; the last certificate may be one of our CAs. */
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
