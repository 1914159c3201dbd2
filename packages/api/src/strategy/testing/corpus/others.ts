/** The remaining groups. */

import { all, labels, specs } from './build.ts';

const exactly = { deviceClassName: 'c.example' };
const devices = {
  requests: [
    { name: 'r', exactly },
    { name: 's', firstAvailable: [{ name: 't', ...exactly }] },
  ],
};
const tolerant = {
  requests: [
    { name: 'r', exactly: { ...exactly, tolerations: [{ key: 'k', effect: 'NoExecute' }], allocationMode: 'All' } },
  ],
};
const request =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIRk1HNENBUUF3RERFS01BZ0dBMVVFQXd3QllUQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCQndNN2IvZ2wxNndBLzRtdmUvTE5xeWRpa1JXTU5GQ0RGWEdGMkloa25USjhaQnlXQ0xHRGZHYklrbk81WklJCk1sOU1KaDNPcHZmeDlyRDU5b2E5dmpTZ0FEQUtCZ2dxaGtqT1BRUURBZ05IQURCRUFpQkFNWnl3WjZPRXk1clQKVUlYbDNiNDhJNFBoQ3F4OXBkVENISzMzZFlNZlVBSWdVU0pSTXo2ZlJSbERsalhST3k1a2NybUdNQ3hTaWhZTgppVHczRTlaMklqaz0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==';
export const others = [
  all('certificates.k8s.io/v1', 'CertificateSigningRequest', {
    spec: {
      request,
      signerName: 'example.com/s',
      usages: ['client auth'],
      username: 'somebody',
      groups: ['system:masters'],
      extra: { a: ['b'] },
    },
    status: { conditions: [{ type: 'Approved', status: 'True' }] },
  }),
  specs(
    'coordination.k8s.io/v1',
    'Lease',
    {},
    {
      holderIdentity: 'h',
      leaseDurationSeconds: 3,
      renewTime: '2030-01-01T00:00:00.000000Z',
      strategy: 'OldestEmulationVersion',
    },
  ),
  all('scheduling.k8s.io/v1', 'PriorityClass', { value: 1 }, { value: 2, preemptionPolicy: 'Never', description: 'd' }),
  all(
    'node.k8s.io/v1',
    'RuntimeClass',
    { handler: 'h' },
    { handler: 'h', overhead: { podFixed: { cpu: '0.00001' } }, scheduling: { nodeSelector: labels } },
  ),
  specs(
    'flowcontrol.apiserver.k8s.io/v1',
    'FlowSchema',
    { priorityLevelConfiguration: { name: 'exempt' } },
    {
      priorityLevelConfiguration: { name: 'p' },
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'u' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
        },
      ],
    },
  ),
  specs(
    'flowcontrol.apiserver.k8s.io/v1',
    'PriorityLevelConfiguration',
    { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
    {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 3, limitResponse: { type: 'Queue', queuing: { queues: 3, handSize: 2 } } },
    },
  ),
  specs(
    'resource.k8s.io/v1',
    'DeviceClass',
    {},
    { selectors: [{ cel: { expression: 'true' } }], extendedResourceName: 'example.com/x' },
  ),
  specs('resource.k8s.io/v1', 'ResourceClaim', {}, { devices }, { devices: tolerant }),
  specs(
    'resource.k8s.io/v1',
    'ResourceClaimTemplate',
    { spec: { devices } },
    { metadata: { labels }, spec: { devices: tolerant } },
  ),
  specs(
    'resource.k8s.io/v1',
    'ResourceSlice',
    { driver: 'd.example', pool: { name: 'p', resourceSliceCount: 1 }, allNodes: true },
    {
      driver: 'd.example',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      nodeName: 'n',
      devices: [
        {
          name: 'd',
          attributes: { a: { int: 1 }, b: { string: 'x' } },
          capacity: { memory: { value: '1.5Gi' } },
          taints: [{ key: 'k', effect: 'NoSchedule' }],
        },
      ],
    },
  ),
];
