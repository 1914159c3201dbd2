/**
 * Authenticates client certificates of one tenant. TLS only proves that the client has the key of its certificate, because TLS has no
 * tenant CAs. This file verifies what TLS would verify, against the CA of this tenant only.
 *
 * Only certificates that the CA itself signed are accepted. It signs no intermediates, resumed TLS sessions do not include them, and
 * without a search for a certification path no wrong path can be found. Other certificates that a client sends are ignored.
 */

import { hash, X509Certificate } from 'node:crypto';
import type { Clock } from '@hangar/core';
import type { Authenticator } from '../../auth/authenticate.ts';
import { authenticatedGroup, credentialId, withCertificateExpiry } from '../../auth/user.ts';
import type { User } from '../../auth/user.ts';
import type { Peer, ServerRequest } from '../../http/message.ts';
import { subjectOf } from '../../http/subject.ts';

const clientAuthentication = '1.3.6.1.5.5.7.3.2';

/** The user of a certificate and its validity: milliseconds since 1970, both ends included. */
interface Shown {
  readonly user: User;
  readonly notBefore: number;
  readonly notAfter: number;
}

export class TenantCertificateAuthenticator implements Authenticator {
  readonly #clock: Clock;
  readonly #authority: X509Certificate;
  readonly #hasIssued: (digest: string) => boolean;
  /** The certificate of a connection does not change. Null: not issued by this tenant. */
  readonly #shown = new WeakMap<Peer, Shown | null>();

  /**
   * `authority`: the certificate of the tenant's CA; PEM. `hasIssued`: reports whether the CA is known to have signed the certificate with
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
    const user: User = {
      name: commonName,
      uid,
      groups: [...organizations, authenticatedGroup],
      extra: { [credentialId]: [`X509SHA256=${digest}`] },
    };
    // A certificate is not valid longer than its CA.
    const notAfter = Math.min(certificate.validToDate.getTime(), this.#authority.validToDate.getTime());
    return {
      user: withCertificateExpiry(user, notAfter),
      notBefore: Math.max(certificate.validFromDate.getTime(), this.#authority.validFromDate.getTime()),
      notAfter,
    };
  }

  /** Reports whether names and key identifiers match, the CA may sign, and the signature is valid. */
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
