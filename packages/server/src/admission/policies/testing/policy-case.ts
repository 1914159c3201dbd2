/**
 * Cases for comparison with a real kube-apiserver: each has a policy with its binding, a separate namespace, and requests. All policies of
 * a table are in force at once, because a real server needs seconds to observe one.
 */

import type { Step } from '../../../testing/both-servers.ts';

type Json = Record<string, unknown>;

export interface PolicyCase {
  readonly name: string;
  readonly kind: 'Validating' | 'Mutating';
  readonly policy: Json;
  /** Spec of the binding; null: no binding. */
  readonly binding?: Json | null;
  /** Labels of the namespace. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Requests made before the policy is created. */
  readonly before?: (namespace: string) => readonly Step[];
  readonly requests: (namespace: string) => readonly Step[];
}

const registration = '/apis/admissionregistration.k8s.io/v1';
const apiVersion = 'admissionregistration.k8s.io/v1';

export const rule = (resource: string, operations = ['CREATE', 'UPDATE'], rest: Json = {}): Json => {
  const [group, name] = resource.includes('.')
    ? [resource.slice(resource.indexOf('.') + 1), resource.split('.')[0]]
    : ['', resource];
  return { apiGroups: [group], apiVersions: ['v1'], operations, resources: [name], ...rest };
};
export const on = (...rules: Json[]): Json => ({ resourceRules: rules });
/** Constraints for policies that fail before their binding is matched. */
export const lone = (...rules: Json[]): Json => ({
  ...on(...rules),
  namespaceSelector: { matchLabels: { lone: 'yes' } },
});
export const configMapRules = on(rule('configmaps'));

export const validating = (
  name: string,
  policy: Json,
  requests: PolicyCase['requests'],
  rest: Partial<PolicyCase> = {},
): PolicyCase => ({ kind: 'Validating', name, policy, requests, ...rest });

export const mutating = (
  name: string,
  policy: Json,
  requests: PolicyCase['requests'],
  rest: Partial<PolicyCase> = {},
): PolicyCase => ({ kind: 'Mutating', name, policy, requests, ...rest });

export const post = (path: string, body: Json, rest: Partial<Step> = {}): Step => ({
  method: 'POST',
  path,
  body,
  ...rest,
});
export const put = (path: string, body: Json, rest: Partial<Step> = {}): Step => ({
  method: 'PUT',
  path,
  body,
  ...rest,
});
export const mergePatch = (path: string, body: Json): Step => ({
  method: 'PATCH',
  path,
  body,
  contentType: 'application/merge-patch+json',
});

export const configMapsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
export const configMapOf = (name: string, data: Json = {}, metadata: Json = {}): Json => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, ...metadata },
  data,
});
export const createConfigMap = (namespace: string, name: string, data: Json = {}, metadata: Json = {}): Step =>
  post(configMapsIn(namespace), configMapOf(name, data, metadata));

/** Returns the setup requests in order. */
export function setupOf(one: PolicyCase, namespace: string): Step[] {
  const { kind, policy, binding = {}, labels, before } = one;
  const plural = kind.toLowerCase();
  return [
    post('/api/v1/namespaces', {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name: namespace, ...(labels ? { labels } : {}) },
    }),
    ...(before?.(namespace) ?? []),
    post(`${registration}/${plural}admissionpolicies`, {
      kind: `${kind}AdmissionPolicy`,
      apiVersion,
      metadata: { name: `${namespace}.example.com` },
      spec: {
        matchConstraints: configMapRules,
        ...(kind === 'Mutating' ? { reinvocationPolicy: 'Never' } : {}),
        ...policy,
      },
    }),
    ...(binding === null ? [] : [bindingOf(one, namespace, binding)]),
  ];
}

function bindingOf({ kind }: PolicyCase, namespace: string, binding: Json): Step {
  return post(`${registration}/${kind.toLowerCase()}admissionpolicybindings`, {
    kind: `${kind}AdmissionPolicyBinding`,
    apiVersion,
    metadata: { name: `${namespace}-binding` },
    spec: {
      policyName: `${namespace}.example.com`,
      ...(kind === 'Validating' ? { validationActions: ['Deny'] } : {}),
      matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
      ...binding,
    },
  });
}
