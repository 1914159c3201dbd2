/** Subjects of the roles of the default policy. Controllers are bound to the roles with their names. */

export type SubjectText = `user ${string}` | `group ${string}` | `account ${string}`;

/** Keyed by role, which is also the name of the binding. `system:node` has no subjects: kubelets are authorized by the node authorizer. */
export const clusterSubjects: Readonly<Record<string, readonly SubjectText[]>> = {
  'cluster-admin': ['group system:masters'],
  'system:basic-user': ['group system:authenticated'],
  'system:discovery': ['group system:authenticated'],
  'system:kube-controller-manager': ['user system:kube-controller-manager'],
  'system:kube-dns': ['account kube-dns'],
  'system:kube-scheduler': ['user system:kube-scheduler'],
  'system:monitoring': ['group system:monitoring'],
  'system:node': [],
  'system:node-proxier': ['user system:kube-proxy'],
  'system:public-info-viewer': ['group system:authenticated', 'group system:unauthenticated'],
  'system:service-account-issuer-discovery': ['group system:serviceaccounts'],
  'system:volume-scheduler': ['user system:kube-scheduler'],
};

export interface NamespaceBinding {
  readonly namespace: string;
  readonly name: string;
  readonly role: string;
  readonly subjects: readonly SubjectText[];
}

const binding = (namespace: string, role: string, subjects: readonly SubjectText[], name = role): NamespaceBinding => ({
  namespace,
  name,
  role,
  subjects,
});

const manager = 'user system:kube-controller-manager';
const scheduler = 'user system:kube-scheduler';

export const namespaceBindings: readonly NamespaceBinding[] = [
  binding('kube-public', 'system:controller:bootstrap-signer', ['account bootstrap-signer']),
  binding(
    'kube-system',
    'extension-apiserver-authentication-reader',
    [manager, scheduler],
    'system::extension-apiserver-authentication-reader',
  ),
  binding('kube-system', 'system::leader-locking-kube-controller-manager', [
    manager,
    'account kube-controller-manager',
    'account leader-election-controller',
  ]),
  binding('kube-system', 'system::leader-locking-kube-scheduler', [scheduler, 'account kube-scheduler']),
  binding('kube-system', 'system:controller:bootstrap-signer', ['account bootstrap-signer']),
  binding('kube-system', 'system:controller:cloud-provider', ['account cloud-provider']),
  binding('kube-system', 'system:controller:token-cleaner', ['account token-cleaner']),
];
