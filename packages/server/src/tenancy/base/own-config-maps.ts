/**
 * Base objects that differ between tenants. Two are derived from the tenant's keys: one publishes the CAs that aggregated API servers and
 * Kubernetes components trust; the other publishes the address of the tenant for nodes and users that have only a token. The third, in
 * every namespace of the base, publishes the CA of the port. It exists only if controllers would create it.
 */

import type { KubeObject, ObjectMeta } from '@hangar/api';
import { lazy } from '@hangar/core';
import { bornNamespaces } from '../../bootstrap/objects.ts';
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
  /** Content of `kube-root-ca.crt`; PEM. */
  readonly rootCa: string;
  /** Includes `kube-root-ca.crt`. */
  readonly hasRootCa: boolean;
}

const rootCaName = 'kube-root-ca.crt';
/** As kube-controller-manager writes it, so that one that takes over has nothing to change. */
const rootCaAnnotations = {
  'kubernetes.io/description':
    'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.',
};

const keysOfTwo = ['configmaps/kube-public/cluster-info', 'configmaps/kube-system/extension-apiserver-authentication'];
const keysOfAll = [...keysOfTwo, ...bornNamespaces.map((namespace) => `configmaps/${namespace}/${rootCaName}`)];
const withoutRootCa: ReadonlySet<string> = new Set(keysOfTwo);
const withRootCa: ReadonlySet<string> = new Set(keysOfAll);

/** Keys of the ConfigMaps below the tenant's prefix. */
export const ownConfigMapKeys = (hasRootCa: boolean): ReadonlySet<string> => (hasRootCa ? withRootCa : withoutRootCa);

export function tenantConfigMaps(options: OwnConfigMapsOptions): MadeEntries {
  const { identity, keys, rootCa } = options;
  const entry = (
    namespace: string,
    name: string,
    data: () => Readonly<Record<string, string>>,
    annotations?: Readonly<Record<string, string>>,
  ): [string, () => Uint8Array] => {
    const key = `configmaps/${namespace}/${name}`;
    const named = { namespace, name, ...(annotations ? { annotations } : {}) };
    return [key, lazy(() => encoded(identity, key, named, data()))];
  };
  const rootCaNamespaces = options.hasRootCa ? bornNamespaces : [];
  return new Map([
    entry('kube-public', 'cluster-info', () => ({ kubeconfig: clusterInfo(options) })),
    entry('kube-system', 'extension-apiserver-authentication', () =>
      publishedData({
        clientCa: keys.authority.certificate,
        frontProxyCa: keys.frontProxyAuthority.certificate,
        allowedNames: [frontProxyName],
      }),
    ),
    ...rootCaNamespaces.map((namespace) =>
      entry(namespace, rootCaName, () => ({ 'ca.crt': rootCa }), rootCaAnnotations),
    ),
  ]);
}

function encoded(
  { seed, createdAt }: TenantIdentity,
  key: string,
  { annotations, ...names }: Pick<ObjectMeta, 'namespace' | 'name' | 'annotations'>,
  data: Readonly<Record<string, string>>,
): Uint8Array {
  const uid = baseUid(seed, key);
  const metadata = { ...names, uid, creationTimestamp: createdAt, ...(annotations ? { annotations } : {}) };
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata, data } as unknown as KubeObject;
  return builtinServed('', 'v1', 'configmaps')!.stored.encode(object);
}

/** Contains no user: the reader adds its own. */
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
