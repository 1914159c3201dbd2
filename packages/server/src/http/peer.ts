/** The other end of a TLS connection. */

import type { TLSSocket } from 'node:tls';
import type { ClientCertificate, Peer } from './message.ts';

export function peerOf(socket: TLSSocket): Peer {
  return { address: socket.remoteAddress ?? '', certificate: certificateOf(socket) };
}

function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  // Only what TLS verified against our own CAs counts.
  if (!socket.authorized) return undefined;
  const certificate = socket.getPeerCertificate();
  const subject = certificate?.subject as unknown as Record<string, string | string[] | undefined> | undefined;
  if (!subject) return undefined;
  const { CN: names, O: organizations } = subject;
  const [commonName = ''] = [names].flat();
  return {
    commonName,
    organizations: [organizations ?? []].flat(),
    expiresAt: Date.parse(certificate.valid_to),
  };
}
