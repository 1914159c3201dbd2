/** Attempts of users who may write roles and bindings to grant permissions that they do not hold. */

import type { Step } from '../../../testing/both-servers.ts';

const group = 'rbac.authorization.k8s.io';
const rbac = `/apis/${group}/v1`;
const inDefault = `${rbac}/namespaces/default`;

export const escalationUsers = ['writer', 'binder', 'escalator', 'reader'].map((user) => ({
  token: `${user}-token`,
  user,
  groups: user === 'writer' ? ['editors', 'others'] : [],
}));

const rule = (verbs: string[], resources: string[], rest: object = {}): object => ({
  verbs,
  apiGroups: [''],
  resources,
  ...rest,
});
const role = (name: string, rules: readonly object[] | undefined, rest: object = {}): object => ({
  metadata: { name },
  rules,
  ...rest,
});
const bindingOf = (kind: string, role: string, name: string, ...users: readonly string[]): object => ({
  metadata: { name },
  roleRef: { apiGroup: group, kind, name: role },
  subjects: users.map((user) => ({ kind: 'User', apiGroup: group, name: user })),
});

const writing = {
  verbs: ['get', 'create', 'update', 'patch', 'delete'],
  apiGroups: [group],
  resources: ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'],
};

const clusterRoles: Readonly<Record<string, readonly object[]>> = {
  'writer-rules': [
    writing,
    rule(['get', 'list'], ['pods', 'pods/log']),
    rule(['get'], ['secrets'], { resourceNames: ['a', 'b'] }),
    rule(['get'], ['*/scale']),
    { verbs: ['get'], nonResourceURLs: ['/logs/*', '/version'] },
  ],
  'binder-rules': [
    writing,
    { verbs: ['bind'], apiGroups: [group], resources: ['clusterroles'], resourceNames: ['bindable'] },
  ],
  'escalator-rules': [writing, { verbs: ['escalate'], apiGroups: [group], resources: ['roles', 'clusterroles'] }],
  bindable: [rule(['delete'], ['nodes'])],
  strong: [rule(['*'], ['*']), rule(['delete'], ['nodes'])],
  weak: [rule(['get'], ['pods'])],
  last: [rule(['get'], ['markers'])],
};

export const escalationObjects: readonly { readonly path: string; readonly object: object }[] = [
  ...Object.entries(clusterRoles).map(([name, rules]) => ({ path: `${rbac}/clusterroles`, object: role(name, rules) })),
  ...['writer', 'binder', 'escalator'].map((user) => ({
    path: `${rbac}/clusterrolebindings`,
    object: bindingOf('ClusterRole', `${user}-rules`, `${user}-binding`, user),
  })),
  { path: `${inDefault}/roles`, object: role('held', [rule(['get'], ['pods'])]) },
  {
    path: `${rbac}/clusterroles`,
    object: role('collected', undefined, { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { x: 'y' } }] } }),
  },
  { path: `${rbac}/clusterrolebindings`, object: bindingOf('ClusterRole', 'last', 'last', 'last') },
];

const as = (user: string, method: string, path: string, body?: object, contentType?: string): Step => ({
  method,
  path,
  token: `${user}-token`,
  ...(body === undefined ? {} : { body }),
  ...(contentType === undefined ? {} : { contentType }),
});
const grant = (name: string, ...rules: readonly object[]): Step =>
  as('writer', 'POST', `${rbac}/clusterroles`, role(name, rules));
const merge = 'application/merge-patch+json';
const apply = 'application/apply-patch+yaml';

export const escalationSteps: readonly Step[] = [
  // Roles: only held permissions, piece by piece.
  grant('a1', rule(['get'], ['pods'])),
  grant('a2', rule(['get', 'list', 'watch', 'delete'], ['pods', 'services'])),
  grant('a3', rule(['get'], ['secrets'])),
  grant('a4', rule(['get'], ['secrets'], { resourceNames: ['a'] })),
  grant('a5', rule(['get', 'list'], ['secrets'], { resourceNames: ['a', 'c'] })),
  grant('a6', rule(['get'], ['pods/scale', 'x/scale', 'pods/status'])),
  grant('a7', rule(['*'], ['pods'])),
  grant('a8', rule(['get'], ['*'])),
  grant('a9', { verbs: ['get'], apiGroups: ['*'], resources: ['pods'] }),
  grant('a10', { verbs: ['get', 'put'], nonResourceURLs: ['/logs/a', '/logs/*', '/logs', '/version', '/*'] }),
  grant(
    'a11',
    { verbs: ['get'], apiGroups: ['', 'apps'], resources: ['pods', 'pods/log'] },
    { verbs: ['x"y'], apiGroups: ['apps'], resources: ['pods'] },
  ),
  grant('a12', rule(['get'], ['*/scale', '*/status'])),
  as('writer', 'POST', `${inDefault}/roles`, role('a13', [rule(['get', 'create'], ['pods'])])),
  as('writer', 'PUT', `${rbac}/clusterroles/weak`, role('weak', [rule(['get', 'delete'], ['pods'])])),
  as('writer', 'PATCH', `${rbac}/clusterroles/weak`, { rules: [rule(['create'], ['pods'])] }, merge),
  as('writer', 'PATCH', `${rbac}/clusterroles/weak`, { metadata: { labels: { a: 'b' } } }, merge),
  as('writer', 'PATCH', `${rbac}/clusterroles/strong`, { metadata: { labels: { a: 'b' } } }, merge),
  as('writer', 'PATCH', `${rbac}/clusterroles/strong`, { metadata: { finalizers: ['example.com/keep'] } }, merge),
  as('writer', 'PATCH', `${rbac}/clusterroles/strong`, { metadata: { finalizers: null } }, merge),
  as(
    'writer',
    'PATCH',
    `${rbac}/clusterroles/applied?fieldManager=me`,
    { apiVersion: `${group}/v1`, kind: 'ClusterRole', ...role('applied', [rule(['delete'], ['pods'])]) },
    apply,
  ),
  as(
    'writer',
    'PATCH',
    `${rbac}/clusterroles/weak?fieldManager=me&force=true`,
    { apiVersion: `${group}/v1`, kind: 'ClusterRole', ...role('weak', [rule(['delete'], ['pods'])]) },
    apply,
  ),
  // Aggregated roles can collect any rules.
  as(
    'writer',
    'POST',
    `${rbac}/clusterroles`,
    role('a14', undefined, { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }),
  ),
  as(
    'writer',
    'POST',
    `${rbac}/clusterroles`,
    role('a15', [rule(['delete'], ['pods'])], {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
    }),
  ),
  as('writer', 'PATCH', `${rbac}/clusterroles/collected`, { aggregationRule: null }, merge),
  as('writer', 'PATCH', `${rbac}/clusterroles/weak`, { aggregationRule: { clusterRoleSelectors: [{}] } }, merge),
  // Labels add the rules to another role: only the rules themselves must be held.
  as('writer', 'POST', `${rbac}/clusterroles`, {
    metadata: { name: 'a16', labels: { [`${group}/aggregate-to-view`]: 'true' } },
    rules: [rule(['delete'], ['secrets'])],
  }),
  // Escalate.
  as('escalator', 'POST', `${rbac}/clusterroles`, role('e1', [rule(['*'], ['*'])])),
  as('escalator', 'POST', `${inDefault}/roles`, role('e2', [rule(['*'], ['*'])])),
  as('escalator', 'POST', `${rbac}/clusterrolebindings`, bindingOf('ClusterRole', 'strong', 'e3', 'escalator')),
  // Bindings.
  as('writer', 'POST', `${rbac}/clusterrolebindings`, bindingOf('ClusterRole', 'cluster-admin', 'b1', 'writer')),
  as('writer', 'POST', `${rbac}/clusterrolebindings`, bindingOf('ClusterRole', 'strong', 'b2', 'writer')),
  as('writer', 'POST', `${rbac}/clusterrolebindings`, bindingOf('ClusterRole', 'weak', 'b3', 'reader')),
  as('writer', 'POST', `${rbac}/clusterrolebindings`, bindingOf('ClusterRole', 'absent', 'b4', 'writer')),
  as('writer', 'POST', `${rbac}/clusterrolebindings`, bindingOf('Role', 'held', 'b5', 'writer')),
  as('writer', 'POST', `${inDefault}/rolebindings`, bindingOf('Role', 'held', 'b6', 'reader')),
  as('writer', 'POST', `${inDefault}/rolebindings`, bindingOf('Role', 'absent', 'b7', 'reader')),
  as('writer', 'POST', `${inDefault}/rolebindings`, bindingOf('ClusterRole', 'strong', 'b8', 'reader')),
  as(
    'writer',
    'PATCH',
    `${rbac}/clusterrolebindings/cluster-admin`,
    { subjects: [{ kind: 'User', apiGroup: group, name: 'writer' }] },
    merge,
  ),
  as(
    'writer',
    'PATCH',
    `${rbac}/clusterrolebindings/writer-binding`,
    {
      subjects: [
        { kind: 'User', apiGroup: group, name: 'writer' },
        { kind: 'User', apiGroup: group, name: 'reader' },
      ],
    },
    merge,
  ),
  as('binder', 'POST', `${inDefault}/rolebindings`, bindingOf('ClusterRole', 'bindable', 'b9', 'reader')),
  as('binder', 'POST', `${rbac}/clusterrolebindings`, bindingOf('ClusterRole', 'bindable', 'b10', 'reader')),
  as('binder', 'POST', `${inDefault}/rolebindings`, bindingOf('ClusterRole', 'weak', 'b11', 'reader')),
  as('reader', 'POST', `${inDefault}/rolebindings`, bindingOf('ClusterRole', 'bindable', 'b12', 'reader')),
];
