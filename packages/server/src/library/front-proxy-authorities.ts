/**
 * The CAs of the front proxies of control planes. The administrator of a control plane writes the bundle, so its size and the number of
 * its CAs are limited, and it is parsed once.
 */

import { X509Certificate } from 'node:crypto';
import type { JsonObject } from '@hangar/api';

/** Longer bundles count as empty. */
export const bundleLengthMax = 64 * 1024;
/** CAs of one control plane. It has two during a rotation. */
const authoritiesMax = 8;
/** Control planes whose bundle is kept. */
const planesMax = 256;

/** A control plane as the management plane knows it. */
export interface ProxiedPlane {
  readonly name: string;
  /** CAs of the front proxies of the control plane, PEM; empty if it has none. */
  readonly frontProxyCa: string;
}

/** Returns the bundle from the data of the ConfigMap `extension-apiserver-authentication`; empty if it has none or a too long one. */
export function frontProxyCaOf(data: JsonObject): string {
  const bundle = data['requestheader-client-ca-file'];
  return typeof bundle === 'string' && bundle.length <= bundleLengthMax ? bundle : '';
}

/** A CA of the front proxies of one control plane. */
export interface FrontProxyAuthority {
  /** Hash of the certificate. */
  readonly id: string;
  /** The certificate, PEM. */
  readonly certificate: string;
  /** Reports whether the certificate has a signature of this CA. */
  issued(certificate: X509Certificate): boolean;
}

export class FrontProxyAuthorities {
  /** By name of the control plane, least recently used first. */
  readonly #parsed = new Map<
    string,
    { readonly bundle: string; readonly authorities: readonly FrontProxyAuthority[] }
  >();

  /** Returns the same array until the bundle of the control plane changes. */
  of({ name, frontProxyCa: bundle }: ProxiedPlane): readonly FrontProxyAuthority[] {
    const known = this.#parsed.get(name);
    const parsed = known?.bundle === bundle ? known : { bundle, authorities: authoritiesOf(name, bundle) };
    this.#parsed.delete(name);
    this.#parsed.set(name, parsed);
    if (this.#parsed.size > planesMax) this.#parsed.delete(this.#parsed.keys().next().value!);
    return parsed.authorities;
  }
}

const none: readonly FrontProxyAuthority[] = [];

function authoritiesOf(name: string, bundle: string): readonly FrontProxyAuthority[] {
  if (bundle.length > bundleLengthMax) return none;
  const all = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const found = new Map<string, FrontProxyAuthority>();
  for (const pem of new Set(all)) {
    const ca = certificateOf(pem);
    // The CA names its control plane: one that publishes the CA of another gains nothing.
    if (ca?.subject === `CN=hangar-${name}-front-proxy-ca`) found.set(ca.fingerprint256, authorityOf(ca));
    if (found.size === authoritiesMax) break;
  }
  return [...found.values()];
}

function certificateOf(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

const authorityOf = (ca: X509Certificate): FrontProxyAuthority => ({
  id: ca.fingerprint256,
  // Not a part of the bundle, which would keep the whole text in memory.
  certificate: ca.toString(),
  issued: (certificate) => certificate.checkIssued(ca) && certificate.verify(ca.publicKey),
});
