/** Provider with one cluster for each Secret with a label and a kubeconfig. */

import type { Provider } from '../contract.ts';
import { informedProvider } from './informed.ts';
import type { ManagementOptions } from './informed.ts';
import { Secret } from './kinds.ts';
import type { SecretObject } from './kinds.ts';
import { foundByKubeconfig, kubeconfigIn, onlyKubeconfig, secretText } from './kubeconfig.ts';
import { nameWithin } from './names.ts';
import type { ClusterOptions } from './open-cluster.ts';

/** Options of `kubeconfigSecrets`. */
export interface KubeconfigSecretsOptions extends ManagementOptions {
  /** Namespace of the Secrets. Absent: all namespaces; cluster names are then `namespace/name` instead of the name of the Secret. */
  readonly namespace?: string;
  /** Label selector of the Secrets. Absent: the label of the kubeconfig provider of multicluster-runtime. */
  readonly labelSelector?: string;
  /** Key in the Secret. Absent: `kubeconfig`. */
  readonly key?: string;
  readonly clusterOptions?: ClusterOptions;
}

/** Label of kubeconfig Secrets, as in multicluster-runtime. */
export const kubeconfigSecretLabel = 'sigs.k8s.io/multicluster-runtime-kubeconfig';

/** Returns a provider of the clusters of labelled kubeconfig Secrets. */
export function kubeconfigSecrets(options: KubeconfigSecretsOptions): Provider {
  const { namespace, labelSelector = `${kubeconfigSecretLabel}=true`, key = 'kubeconfig' } = options;
  return informedProvider('kubeconfig-secrets', options, ({ cache, announcements, follow }) => {
    const secrets = cache.informer(Secret, {
      labelSelector,
      transform: onlyKubeconfig(key),
      ...(namespace === undefined ? {} : { namespace }),
    });
    follow(secrets, ({ metadata }: SecretObject) => {
      const name = nameWithin(namespace, metadata);
      const secret = secrets.get({ namespace: metadata.namespace, name: metadata.name! });
      const kubeconfig = kubeconfigIn(secret, key);
      if (!secret || kubeconfig === undefined) return announcements.tell(name, undefined);
      const labels = secret.metadata.labels ?? {};
      const found = { name, labels, kubeconfig, identity: secret.metadata.uid ?? '', source: secretText(secret) };
      announcements.tellWhenFound(name, foundByKubeconfig(found, options.clusterOptions ?? {}));
    });
  });
}
