/**
 * The permissions that the controller manager requires in the management plane, and no others: a test runs its parts with exactly these,
 * and fails when one is missing or never used. Changes in clusters are made with their kubeconfigs.
 *
 * Secrets are read one by one and by name, so rules with `resourceNames` are enough where all names are known. RBAC has no patterns:
 * where registrations come and go with their own namespaces, the rule is for a namespace (`--cluster-namespace-scope`) or for all of them.
 */

import { groupOf } from '@hangar/client';
import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import { ControlPlaneEndpoint, ControlPlaneRegistration } from '@hangar/runtime/clusters';

export interface ControllerManagerRulesOptions {
  /** Absent: `registration`. */
  readonly source?: 'registration' | 'controlplaneendpoint';
  /** Absent: `auto`, covering every choice. */
  readonly engine?: 'auto' | 'kube' | 'essential';
  /** The only namespace with kubeconfigs. Absent: any. */
  readonly namespaceScope?: string | undefined;
  /** All Secrets with kubeconfigs, where they are known in advance. Absent: any. */
  readonly secretNames?: readonly string[] | undefined;
  /** Namespace of the leases, where there are several replicas. Absent: there is one replica. */
  readonly leaseNamespace?: string | undefined;
}

export interface ControllerManagerRules {
  /** Rules of a ClusterRole. */
  readonly everywhere: readonly PolicyRule[];
  /** Rules of Roles, by namespace. */
  readonly byNamespace: Readonly<Record<string, readonly PolicyRule[]>>;
}

export function controllerManagerRules(options: ControllerManagerRulesOptions = {}): ControllerManagerRules {
  const { namespaceScope, leaseNamespace } = options;
  const byNamespace: Record<string, PolicyRule[]> = {};
  const everywhere = sourceRules(options);
  const secrets = namespaceScope === undefined ? everywhere : (byNamespace[namespaceScope] ??= []);
  secrets.push(secretRule(options));
  if (leaseNamespace !== undefined) (byNamespace[leaseNamespace] ??= []).push(leaseRule);
  return { everywhere, byNamespace };
}

/** On the Hangar whose tenants the essential engine serves: read access to all of them. */
export const feedRules: readonly PolicyRule[] = [
  { apiGroups: ['tenancy.hangar.dev'], resources: ['tenants/feed'], resourceNames: ['*'], verbs: ['get', 'create'] },
];

function sourceRules({ source = 'registration' }: ControllerManagerRulesOptions): PolicyRule[] {
  const kind = source === 'registration' ? ControlPlaneRegistration : ControlPlaneEndpoint;
  const apiGroups = [groupOf(kind)];
  return [
    { apiGroups, resources: [kind.plural], verbs: ['get', 'list', 'watch'] },
    { apiGroups, resources: [`${kind.plural}/status`], verbs: ['patch'] },
  ];
}

/** Kubernetes' programs follow each change of a kubeconfig; the essential set reads it on demand. */
function secretRule({ engine = 'auto', secretNames }: ControllerManagerRulesOptions): PolicyRule {
  const followed = engine === 'essential' ? [] : ['list', 'watch'];
  const read = engine === 'kube' ? [] : ['get'];
  const resourceNames = secretNames ? { resourceNames: [...secretNames] } : {};
  return { apiGroups: [''], resources: ['secrets'], ...resourceNames, verbs: [...read, ...followed] };
}

/** Sharding of the runtime: a lease for each replica, and one with the assignment. */
const leaseRule: PolicyRule = {
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
};
