/** Policies for common kinds. Policies of a file are evaluated before them. */

import type { ActivityPolicy } from './policy.ts';

const scaled = {
  remember: { replicas: 'audit.responseObject.spec.replicas' },
  rules: [
    {
      match: 'has(previous.replicas) && has(current.replicas) && previous.replicas != current.replicas',
      summary: '{{ actor }} scaled {{ kind }} {{ name }} from {{ previous.replicas }} to {{ current.replicas }}',
    },
    {
      match: 'audit.objectRef.subresource == "scale" && has(current.replicas)',
      summary: '{{ actor }} scaled {{ kind }} {{ name }} to {{ current.replicas }}',
    },
  ],
};

const workload = (resource: string): ActivityPolicy => ({
  name: resource,
  spec: { resource: { apiGroup: 'apps', resource }, ...scaled },
});

const streams = (subresource: string, summary: string) => ({
  match: `audit.objectRef.subresource == "${subresource}"`,
  summary,
});

export const defaultPolicies: readonly ActivityPolicy[] = [
  workload('deployments'),
  workload('statefulsets'),
  workload('replicasets'),
  {
    name: 'pods',
    spec: {
      resource: { resource: 'pods' },
      rules: [
        streams('exec', '{{ actor }} ran a command in Pod {{ name }}'),
        streams('attach', '{{ actor }} attached to Pod {{ name }}'),
        streams('portforward', '{{ actor }} forwarded ports of Pod {{ name }}'),
        streams('eviction', '{{ actor }} evicted Pod {{ name }}'),
        streams('binding', '{{ actor }} assigned Pod {{ name }} to a Node'),
      ],
    },
  },
  {
    name: 'nodes',
    spec: {
      resource: { resource: 'nodes' },
      remember: { isUnschedulable: 'has(audit.responseObject.spec.unschedulable)' },
      rules: [
        {
          match: 'has(previous.isUnschedulable) && current.isUnschedulable && !previous.isUnschedulable',
          summary: '{{ actor }} cordoned Node {{ name }}',
        },
        {
          match: 'has(previous.isUnschedulable) && !current.isUnschedulable && previous.isUnschedulable',
          summary: '{{ actor }} uncordoned Node {{ name }}',
        },
      ],
    },
  },
  ...['rolebindings', 'clusterrolebindings'].map((resource) => ({
    name: resource,
    spec: {
      resource: { apiGroup: 'rbac.authorization.k8s.io', resource },
      rules: [
        {
          match: 'audit.verb == "create" && size(audit.responseObject.subjects) == 1',
          summary:
            '{{ actor }} granted {{ audit.responseObject.roleRef.kind }} {{ audit.responseObject.roleRef.name }} to {{ audit.responseObject.subjects[0].kind }} {{ audit.responseObject.subjects[0].name }}',
        },
      ],
    },
  })),
];
