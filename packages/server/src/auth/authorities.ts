/**
 * Which of the CAs that the listener trusts has issued a certificate. TLS verified the chain already, against all of them
 * together; users' and front proxies' certificates come from different ones and must not be taken for each other.
 */

import { X509Certificate } from 'node:crypto';

/** Longer chains are nobody's. */
const chainLengthMax = 10;

export class CertificateAuthorities {
  readonly #roots: readonly X509Certificate[];

  /** Throws when there is no certificate in it. */
  constructor(pem: string) {
    const all = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    if (all.length === 0) throw new Error('no certificate in the bundle of certificate authorities');
    this.#roots = all.map((one) => new X509Certificate(one));
  }

  /** Is there a path of signatures from the first certificate to one of these CAs, over the others? */
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
