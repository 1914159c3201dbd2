/** The interface of a version of the rendering. */

import type { ApiObject, Kind } from '@hangar/client';
import type { TlsRouteVersion } from '../gateway/kinds.ts';
import type { Component } from './names.ts';
import type { Plane } from './plane.ts';

/** An object to apply. */
export interface Rendered<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>;
  readonly object: T;
}

/** Makes the type of an object part of the list. */
export const rendered = <T extends ApiObject>(kind: Kind<T>, object: Omit<T, 'apiVersion' | 'kind'>): Rendered => ({
  kind: kind as unknown as Kind<ApiObject>,
  object: { apiVersion: kind.apiVersion, kind: kind.kind, ...object } as unknown as ApiObject,
});

/** A certificate of a component. */
export interface CertificateWish {
  /** Name of the Secret. */
  readonly secret: string;
  readonly authority: 'ca' | 'etcd' | 'proxy';
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly usage: 'server' | 'client' | 'peer';
  readonly hosts?: readonly string[];
}

/** Pure functions. `files` is a digest of the files that the program reads only at its start: a change rolls out the pods. */
export interface Rendering {
  /** Versions of Kubernetes that this rendering supports, as minor versions. */
  readonly minors: readonly number[];
  /** Returns the names of the arguments that users cannot set, because the control plane cannot work without the rendered value. */
  reserved(plane: Plane): Readonly<Record<Component, readonly string[]>>;
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
