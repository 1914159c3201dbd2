/** The kinds of the Gateway API, with the fields that are used here. */

import { defineKind } from '@hangar/client';
import type { ApiObject, Kind } from '@hangar/client';
import type { Condition } from '@hangar/runtime';

export const gatewayGroup = 'gateway.networking.k8s.io';

export interface Listener {
  readonly name: string;
  readonly protocol?: string;
  readonly port?: number;
  readonly hostname?: string;
  readonly tls?: { readonly mode?: string };
}

export interface Gateway extends ApiObject {
  spec?: { readonly listeners?: readonly Listener[] };
}

export const Gateway: Kind<Gateway> = defineKind({
  apiVersion: `${gatewayGroup}/v1`,
  kind: 'Gateway',
  plural: 'gateways',
  isNamespaced: true,
});

export interface TlsRoute extends ApiObject {
  spec?: object;
  status?: { readonly parents?: readonly { readonly conditions?: readonly Condition[] }[] };
}

/** Versions of TLSRoute that management clusters serve. The used fields are the same in all of them. */
export type TlsRouteVersion = 'v1' | 'v1alpha3' | 'v1alpha2';

export const tlsRouteKind = (version: TlsRouteVersion): Kind<TlsRoute> =>
  defineKind({ apiVersion: `${gatewayGroup}/${version}`, kind: 'TLSRoute', plural: 'tlsroutes', isNamespaced: true });
