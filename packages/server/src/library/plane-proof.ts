/**
 * Proves which control plane sent a request. Every control plane has a separate CA for its front proxy, and only its API server has a
 * certificate of it. The name of the issuer selects the control plane, the management plane says what its CA is, and the signature proves
 * the rest: neither headers nor objects inside a control plane can select another one.
 */

import { X509Certificate } from 'node:crypto';
import type { Clock } from '@hangar/core';
import type { Peer, ServerRequest } from '../http/message.ts';

const issuerPattern = /^CN=hangar-([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)-front-proxy-ca$/m;
/** Common name of front-proxy certificates. */
export const frontProxyName = 'front-proxy-client';

/** Headers with the user, as the API servers of control planes send them. */
export const frontProxyHeaders = {
  allowedNames: [frontProxyName],
  usernameHeaders: ['X-Remote-User'],
  uidHeaders: ['X-Remote-Uid'],
  groupHeaders: ['X-Remote-Group'],
  extraHeaderPrefixes: ['X-Remote-Extra-'],
};

/** A control plane as the management plane knows it. */
export interface ProxiedPlane {
  readonly name: string;
  /** CAs of the front proxies of the control plane, PEM; empty if it has none. */
  readonly frontProxyCa: string;
}

/** Finds a control plane by name; undefined if it does not exist. */
export interface ProxiedPlanes<Plane extends ProxiedPlane> {
  plane(name: string): Promise<Plane | undefined>;
}

export interface ProvenPlane<Plane extends ProxiedPlane> {
  readonly plane: Plane;
  /** The request with the certificate as verified. */
  readonly request: ServerRequest;
}

export class PlaneProofs<Plane extends ProxiedPlane> {
  readonly #directory: ProxiedPlanes<Plane>;
  readonly #clock: Clock;
  /** The certificate of a connection does not change. */
  readonly #parsed = new WeakMap<Peer, X509Certificate | null>();

  constructor(directory: ProxiedPlanes<Plane>, clock: Clock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** Returns undefined if the connection has no certificate of a front proxy of a control plane. */
  async prove(request: ServerRequest): Promise<ProvenPlane<Plane> | undefined> {
    const certificate = this.#certificateOf(request.peer);
    const name = certificate && issuerPattern.exec(certificate.issuer)?.[1];
    if (!certificate || name === undefined) return undefined;
    const plane = await this.#directory.plane(name);
    if (!plane || !this.#isOf(certificate, plane)) return undefined;
    return { plane, request: withCertificate(request, certificate) };
  }

  #certificateOf(peer: Peer): X509Certificate | undefined {
    let certificate = this.#parsed.get(peer);
    if (certificate === undefined) {
      certificate = peer.unverified ? new X509Certificate(peer.unverified.der()) : null;
      this.#parsed.set(peer, certificate);
    }
    return certificate ?? undefined;
  }

  #isOf(certificate: X509Certificate, { name, frontProxyCa }: ProxiedPlane): boolean {
    const now = this.#clock.now();
    if (Date.parse(certificate.validFrom) > now || Date.parse(certificate.validTo) <= now) return false;
    if (!/^CN=front-proxy-client$/m.test(certificate.subject)) return false;
    return authoritiesOf(frontProxyCa).some(
      (ca) =>
        // The CA names its control plane: one that publishes the CA of another gains nothing.
        ca.subject === `CN=hangar-${name}-front-proxy-ca` &&
        certificate.checkIssued(ca) &&
        certificate.verify(ca.publicKey),
    );
  }
}

function authoritiesOf(pem: string): X509Certificate[] {
  const all = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return all.flatMap((one) => {
    try {
      return [new X509Certificate(one)];
    } catch {
      return [];
    }
  });
}

function withCertificate(request: ServerRequest, certificate: X509Certificate): ServerRequest {
  const { method, target, originalTarget, passing } = request;
  const peer: Peer = {
    address: request.peer.address,
    certificate: {
      commonName: frontProxyName,
      organizations: [],
      expiresAt: Date.parse(certificate.validTo),
      chain: () => [certificate.raw],
    },
  };
  return {
    method,
    target,
    ...(originalTarget !== undefined && { originalTarget }),
    peer,
    header: (name) => request.header(name),
    headerValues: (name) => request.headerValues(name),
    headerNames: () => request.headerNames(),
    body: (bytesMax) => request.body(bytesMax),
    ...(passing && { passing }),
  };
}
