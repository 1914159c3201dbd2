/**
 * Two objects of a tenant's base that are made of its own keys: by the one, aggregated API servers and Kubernetes' own
 * components learn whom to trust; by the other, a node or a person that only has a token learns where the tenant is.
 */

import type { KubeObject } from '@hangar/api';
import { lazy } from '@hangar/core';
import { publishedData } from '../../aggregation/authentication-config.ts';
import { builtinServed } from '../../resources/builtin.ts';
import type { TenantIdentity } from '../identity.ts';
import { frontProxyName } from '../keys/front-proxy.ts';
import type { TenantKeys } from '../keys/keys.ts';
import { baseUid } from './uid.ts';
import type { MadeEntries } from './with-entries.ts';

export interface OwnConfigMapsOptions {
  readonly identity: TenantIdentity;
  readonly keys: Pick<TenantKeys, 'authority' | 'frontProxyAuthority'>;
  readonly url: string;
  /** PEM. */
  readonly servingCa: string;
}

/** Where they are below the tenant's prefix. */
export const ownConfigMapKeys: ReadonlySet<string> = new Set([
  'configmaps/kube-public/cluster-info',
  'configmaps/kube-system/extension-apiserver-authentication',
]);

export function tenantConfigMaps(options: OwnConfigMapsOptions): MadeEntries {
  const { identity, keys } = options;
  const entry = (
    namespace: string,
    name: string,
    data: () => Readonly<Record<string, string>>,
  ): [string, () => Uint8Array] => {
    const key = `configmaps/${namespace}/${name}`;
    return [key, lazy(() => encoded(identity, key, { namespace, name }, data()))];
  };
  return new Map([
    entry('kube-public', 'cluster-info', () => ({ kubeconfig: clusterInfo(options) })),
    entry('kube-system', 'extension-apiserver-authentication', () =>
      publishedData({
        clientCa: keys.authority.certificate,
        frontProxyCa: keys.frontProxyAuthority.certificate,
        allowedNames: [frontProxyName],
      }),
    ),
  ]);
}

function encoded(
  { seed, createdAt }: TenantIdentity,
  key: string,
  names: { readonly namespace: string; readonly name: string },
  data: Readonly<Record<string, string>>,
): Uint8Array {
  const metadata = { ...names, uid: baseUid(seed, key), creationTimestamp: createdAt };
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata, data } as unknown as KubeObject;
  return builtinServed('', 'v1', 'configmaps')!.stored.encode(object);
}

/** Without a user: whoever reads it brings one. */
const clusterInfo = ({ url, servingCa }: OwnConfigMapsOptions): string =>
  [
    'apiVersion: v1',
    'clusters:',
    '- cluster:',
    `    certificate-authority-data: ${Buffer.from(servingCa).toString('base64')}`,
    `    server: ${url}`,
    '  name: ""',
    'contexts: null',
    'current-context: ""',
    'kind: Config',
    'preferences: {}',
    'users: null',
    '',
  ].join('\n');
