/** The objects that a joining node expects, and a bootstrap token. */

import { Secret } from '@hangar/client/kinds/core-v1';
import {
  joinObjects as nodeJoinObjects,
  kubeletConfiguration as kubeletText,
  nodeBootstrappers,
} from '@hangar/node-objects';
import type { InsideObject } from '../control-plane/inside-object.ts';
import { inside, insideOf } from '../control-plane/inside-object.ts';
import type { JoinMaterial } from './material.ts';
import { clusterNetwork } from './network.ts';

export interface JoinWish {
  readonly path: string;
  /** URL that nodes join. */
  readonly server: string;
  readonly version: string;
  /** Network of the cluster IPs of services. Absent: not known. */
  readonly serviceCidr?: string | undefined;
}

export const joinObjects = ({ path, server, version, serviceCidr }: JoinWish): InsideObject[] =>
  nodeJoinObjects({ clusterName: path, server, version, ...nodeSettings(serviceCidr) }).map(insideOf);

export const kubeletConfiguration = (
  nodes: { readonly serviceCidr: string; readonly approvesServingCertificates: boolean } | undefined,
): string => kubeletText(nodeSettings(nodes?.serviceCidr, nodes?.approvesServingCertificates));

/**
 * With a port for nodes, kubelets request their serving certificates from the control plane, because the server verifies them with the CA
 * of the control plane.
 */
const nodeSettings = (serviceCidr: string | undefined, serverTlsBootstrap = serviceCidr !== undefined) => ({
  serverTlsBootstrap,
  ...(serviceCidr === undefined ? {} : { network: clusterNetwork(serviceCidr) }),
});

/** The only object that changes every day. */
export function bootstrapToken({ token, expiresAtMs }: JoinMaterial): InsideObject {
  const [id, secret] = token.split('.') as [string, string];
  const texts = {
    'token-id': id,
    'token-secret': secret,
    description: 'for nodes that join; renewed by the control-plane operator',
    expiration: new Date(expiresAtMs).toISOString().replace('.000Z', 'Z'),
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
    'auth-extra-groups': nodeBootstrappers,
  };
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  const key = { namespace: 'kube-system', name: `bootstrap-token-${id}` };
  return inside(Secret, key, { type: 'bootstrap.kubernetes.io/token', data });
}
