/** The interface of a version of the rendering. */

import { rendered } from '@hangar/node-objects';
import type { Rendered } from '@hangar/node-objects';
import type { TlsRouteVersion } from '../gateway/kinds.ts';
import type { Component } from './names.ts';
import type { Plane } from './plane.ts';

export { rendered };
export type { Rendered };

/** A certificate of a component. */
export interface CertificateWish {
  /** Name of the Secret. */
  readonly secret: string;
  readonly authority: 'ca' | 'etcd' | 'proxy';
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly usage: 'server' | 'client' | 'peer';
  readonly hosts?: readonly string[];
  /** Absent: 365. A certificate never outlives its authority. */
  readonly days?: number;
}

/** Pure functions. `files` is a digest of the files that the program reads only at its start: a change rolls out the pods. */
export interface Rendering {
  /** Versions of Kubernetes that this rendering supports, as minor versions. */
  readonly minors: readonly number[];
  /** Returns the names of the arguments that users cannot set, because the control plane cannot work without the rendered value. */
  reserved(plane: Plane): Readonly<Record<Component | 'konnectivity-server', readonly string[]>>;
  apiService(plane: Plane): Rendered[];
  /** Needs the endpoint. */
  tlsRoutes(plane: Plane, version: TlsRouteVersion): Rendered[];
  certificates(plane: Plane): CertificateWish[];
  etcd(plane: Plane, files: string): Rendered[];
  componentKubeconfigs(plane: Plane): Rendered[];
  /** The audit files. `tokens`: of the targets of the webhook, in their order. */
  audit(plane: Plane, tokens: readonly (string | undefined)[]): Rendered[];
  authentication(plane: Plane): Rendered[];
  apiServer(plane: Plane, files: string): Rendered[];
  controllerManager(plane: Plane, files: string): Rendered[];
  scheduler(plane: Plane, files: string): Rendered[];
}
