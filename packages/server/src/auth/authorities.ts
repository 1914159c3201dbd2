/**
 * Determines which of the CAs that the listener trusts issued a certificate. TLS verified the chain against all of them together;
 * certificates of users and of front proxies come from different CAs and must not be confused.
 */

import { X509Certificate } from 'node:crypto';

/** Longer chains match no CA. */
const chainLengthMax = 10;

export class CertificateAuthorities {
  readonly #roots: readonly X509Certificate[];

  /** Throws if there is no certificate. */
  constructor(pem: string) {
    const all = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    if (all.length === 0) throw new Error('no certificate in the bundle of certificate authorities');
    this.#roots = all.map((one) => new X509Certificate(one));
  }

  /** Reports whether the first certificate is signed by one of these CAs, directly or through the others. */
  issued(chain: readonly Uint8Array[] | undefined): boolean {
    const [first, ...others] = (chain ?? []).slice(0, chainLengthMax).map((der) => new X509Certificate(der));
    let certificate = first;
    for (let length = 0; certificate && length < chainLengthMax; length++) {
      const current = certificate;
      if (this.#roots.some((root) => isIssuer(root, current))) return true;
      certificate = others.find((one) => one.ca && isIssuer(one, current));
    }
    return false;
  }
}

const isIssuer = (issuer: X509Certificate, certificate: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
