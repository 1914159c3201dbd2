/**
 * Client certificates of one tenant. TLS has proved that the client has the key of the certificate that it shows, and nothing
 * else: it knows no tenant's CA. Here is verified what TLS would verify, against this tenant's CA and no other.
 *
 * Only certificates that the CA itself has signed count. It signs no intermediate ones; a session that TLS resumes has forgotten
 * them; and a path that is not searched for cannot lead astray. What a client sends besides is not looked at.
 */

import { hash, X509Certificate } from 'node:crypto';
import type { Clock } from '@hangar/core';
import type { Authenticator } from '../../auth/authenticate.ts';
import { authenticatedGroup, credentialId } from '../../auth/user.ts';
import type { User } from '../../auth/user.ts';
import type { Peer, ServerRequest } from '../../http/message.ts';
import { subjectOf } from '../../http/subject.ts';

const clientAuthentication = '1.3.6.1.5.5.7.3.2';

/** Who somebody is, while the certificate counts: milliseconds since 1970, both ends included. */
interface Shown {
  readonly user: User;
  readonly notBefore: number;
  readonly notAfter: number;
}

export class TenantCertificateAuthenticator implements Authenticator {
  readonly #clock: Clock;
  readonly #authority: X509Certificate;
  readonly #hasIssued: (digest: string) => boolean;
  /** A connection's certificate does not change. Null: it is not of this tenant. */
  readonly #shown = new WeakMap<Peer, Shown | null>();

  /**
   * `authority`: the certificate of the tenant's CA; PEM. `hasIssued`: returns whether the CA is known to have signed the certificate with
   * this SHA-256 digest; the signature of all others is verified.
   */
  constructor(authority: string, clock: Clock, hasIssued: (digest: string) => boolean = () => false) {
    this.#clock = clock;
    this.#hasIssued = hasIssued;
    this.#authority = new X509Certificate(authority);
  }

  authenticate({ peer }: ServerRequest): User | undefined {
    if (!peer.unverified) return undefined;
    let shown = this.#shown.get(peer);
    if (shown === undefined) this.#shown.set(peer, (shown = this.#verified(peer.unverified.der())));
    const now = this.#clock.now();
    return shown && shown.notBefore <= now && now <= shown.notAfter ? shown.user : undefined;
  }

  #verified(der: Uint8Array): Shown | null {
    const certificate = read(der);
    if (!certificate) return null;
    const digest = hash('sha256', certificate.raw);
    if (!this.#hasIssued(digest) && !this.#hasSigned(certificate)) return null;
    if (!certificate.keyUsage?.includes(clientAuthentication)) return null;
    const subject = subjectOf(certificate.toLegacyObject().subject);
    if (!subject || subject.commonName === '') return null;
    const { commonName, organizations, uid = '' } = subject;
    return {
      user: {
        name: commonName,
        uid,
        groups: [...organizations, authenticatedGroup],
        extra: { [credentialId]: [`X509SHA256=${digest}`] },
      },
      // What the CA has signed counts no longer than the CA does.
      notBefore: Math.max(certificate.validFromDate.getTime(), this.#authority.validFromDate.getTime()),
      notAfter: Math.min(certificate.validToDate.getTime(), this.#authority.validToDate.getTime()),
    };
  }

  /** The names fit, the key identifiers fit, the CA may sign, and it has. */
  #hasSigned(certificate: X509Certificate): boolean {
    return certificate.checkIssued(this.#authority) && certificate.verify(this.#authority.publicKey);
  }
}

function read(der: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}
