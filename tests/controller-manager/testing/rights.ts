/** The permissions of the controller manager's identity, from its `rbac.ts`: for the Secrets of a test, each by name and namespace. */

import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import type { SecretReference } from '@hangar/controlplane-operator';
import { controllerManagerRules, feedRules } from '../../../apps/controller-manager/src/rbac.ts';

export interface Rights {
  readonly everywhere: readonly PolicyRule[];
  readonly inNamespaces: ReadonlyMap<string, readonly PolicyRule[]>;
}

export interface RightsOptions {
  readonly engine: 'kube' | 'essential';
  readonly secrets: readonly SecretReference[];
  /** There are several replicas. */
  readonly isShared?: boolean;
}

/** The default of `--leader-elect-resource-namespace`. */
const leaseNamespace = 'kube-system';

export function rightsFor({ engine, secrets, isShared = false }: RightsOptions): Rights {
  const names = Map.groupBy(secrets, ({ namespace }) => namespace);
  const inNamespaces = new Map<string, readonly PolicyRule[]>();
  let everywhere: readonly PolicyRule[] = [];
  for (const [namespace, some] of names) {
    const secretNames = some.map(({ name }) => name);
    const rules = controllerManagerRules({
      engine,
      namespaceScope: namespace,
      secretNames,
      leaseNamespace: isShared ? leaseNamespace : undefined,
    });
    everywhere = rules.everywhere;
    for (const [where, some] of Object.entries(rules.byNamespace)) inNamespaces.set(where, some);
  }
  return { everywhere: engine === 'essential' ? [...everywhere, ...feedRules] : everywhere, inNamespaces };
}
