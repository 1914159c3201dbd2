/**
 * Proves which control plane sent a request. Every control plane has a separate CA for its front proxy, and only its API server has a
 * certificate of it. The name of the issuer selects the control plane, the management plane says what its CA is, and the signature proves
 * the rest: neither headers nor objects inside a control plane can select another one.
 */

import { X509Certificate } from 'node:crypto';
import type { Clock } from '@hangar/core';
import type { Peer, ServerRequest } from '../http/message.ts';
import { FrontProxyAuthorities } from './front-proxy-authorities.ts';
import type { FrontProxyAuthority, ProxiedPlane } from './front-proxy-authorities.ts';

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

/** Finds a control plane by name; undefined if it does not exist. */
export interface ProxiedPlanes<Plane extends ProxiedPlane> {
  plane(name: string): Promise<Plane | undefined>;
}

export interface ProvenPlane<Plane extends ProxiedPlane> {
  readonly plane: Plane;
  /** The CA of the certificate. */
  readonly authority: FrontProxyAuthority;
  /** The request with the certificate as verified. */
  readonly request: ServerRequest;
}

/** The result for a connection, until the CAs of its control plane change. */
interface Verified {
  readonly authorities: readonly FrontProxyAuthority[];
  /** Undefined: none of them issued the certificate. */
  readonly authority: FrontProxyAuthority | undefined;
  readonly peer: Peer;
}

export class PlaneProofs<Plane extends ProxiedPlane> {
  readonly #directory: ProxiedPlanes<Plane>;
  readonly #clock: Clock;
  readonly #authorities = new FrontProxyAuthorities();
  /** The certificate of a connection does not change. */
  readonly #parsed = new WeakMap<Peer, X509Certificate | null>();
  readonly #verified = new WeakMap<Peer, Verified>();

  constructor(directory: ProxiedPlanes<Plane>, clock: Clock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** Returns undefined if the connection has no certificate of a front proxy of a control plane. */
  async prove(request: ServerRequest): Promise<ProvenPlane<Plane> | undefined> {
    const certificate = this.#certificateOf(request.peer);
    const name = certificate && issuerPattern.exec(certificate.issuer)?.[1];
    if (!certificate || name === undefined || !this.#isFrontProxy(certificate)) return undefined;
    const plane = await this.#directory.plane(name);
    if (!plane) return undefined;
    const { authority, peer } = this.#verify(request.peer, certificate, plane);
    return authority && { plane, authority, request: withPeer(request, peer) };
  }

  #certificateOf(peer: Peer): X509Certificate | undefined {
    let certificate = this.#parsed.get(peer);
    if (certificate === undefined) {
      certificate = peer.unverified ? new X509Certificate(peer.unverified.der()) : null;
      this.#parsed.set(peer, certificate);
    }
    return certificate ?? undefined;
  }

  #isFrontProxy({ subject, validFrom, validTo }: X509Certificate): boolean {
    const now = this.#clock.now();
    return Date.parse(validFrom) <= now && now < Date.parse(validTo) && /^CN=front-proxy-client$/m.test(subject);
  }

  #verify(peer: Peer, certificate: X509Certificate, plane: ProxiedPlane): Verified {
    const authorities = this.#authorities.of(plane);
    const known = this.#verified.get(peer);
    if (known?.authorities === authorities) return known;
    const authority = authorities.find((one) => one.issued(certificate));
    const verified = { authorities, authority, peer: verifiedPeer(peer, certificate) };
    this.#verified.set(peer, verified);
    return verified;
  }
}

/** The same for all requests of a connection, so that authenticators verify it once. */
const verifiedPeer = ({ address }: Peer, certificate: X509Certificate): Peer => ({
  address,
  certificate: {
    commonName: frontProxyName,
    organizations: [],
    expiresAt: Date.parse(certificate.validTo),
    chain: () => [certificate.raw],
  },
});

function withPeer(request: ServerRequest, peer: Peer): ServerRequest {
  const { method, target, originalTarget, passing } = request;
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
