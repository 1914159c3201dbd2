/** NodeRestriction: allowed and denied writes of the node `n1`. */

import type { Step } from '../../../testing/both-servers.ts';
import { container, inNamespace, merge, namespace, pod, post, remove } from './steps.ts';

export const nodeUser = { token: 'node-n1', user: 'system:node:n1', groups: ['system:nodes'] };

const pods = inNamespace('noded', 'pods');
const asNode = (step: Step): Step => ({ ...step, token: nodeUser.token });

const owner = (rest: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  name: 'n1',
  uid: '{{uid}}',
  controller: true,
  ...rest,
});
const annotations = { 'kubernetes.io/config.mirror': 'x' };

export const nodeSetup: readonly Step[] = [
  namespace('noded'),
  post(inNamespace('noded', 'serviceaccounts'), { metadata: { name: 'default' } }),
  post('/api/v1/nodes', { metadata: { name: 'n1' } }),
  post('/api/v1/nodes', { metadata: { name: 'n2' } }),
];

const mirror = (name: string, spec: object = {}, ownerReferences: object[] = [owner()]): Step =>
  asNode(
    post(
      pods,
      {
        metadata: { name, annotations, ownerReferences },
        spec: { nodeName: 'n1', containers: [container('c')], ...spec },
      },
      { ignore: ['metadata.managedFields'] },
    ),
  );
const volume = (source: object): object => ({ volumes: [{ name: 'v', ...source }] });
const lease = (space: string, name: string): Step =>
  asNode(post(`/apis/coordination.k8s.io/v1/namespaces/${space}/leases`, { metadata: { name }, spec: {} }));
const label = (name: string): Step => asNode(merge('/api/v1/nodes/n1', { metadata: { labels: { [name]: 'x' } } }));

export const nodes: readonly Step[] = [
  { method: 'GET', path: '/api/v1/nodes/n1', keep: { uid: 'metadata.uid' } },
  post(pods, pod('mine', { nodeName: 'n1' }), { keep: { podUid: 'metadata.uid' } }),
  post(pods, pod('theirs', { nodeName: 'n2' }), { keep: { otherUid: 'metadata.uid' } }),
  asNode(post(pods, pod('not-mirror', { nodeName: 'n1' }))),
  mirror('mirror'),
  mirror('elsewhere', { nodeName: 'n2' }),
  mirror('unowned', {}, []),
  mirror('twice', {}, [owner(), owner({ name: 'n2', controller: false })]),
  mirror('other-owner', {}, [owner({ name: 'n2' })]),
  mirror('no-controller', {}, [owner({ controller: false })]),
  mirror('blocking', {}, [owner({ blockOwnerDeletion: true })]),
  mirror('wrong-uid', {}, [owner({ uid: 'x' })]),
  mirror('secret', volume({ secret: { secretName: 's' } })),
  mirror('config', volume({ configMap: { name: 's' } })),
  mirror('claim', volume({ persistentVolumeClaim: { claimName: 's' } })),
  mirror('projected', volume({ projected: { sources: [{ configMap: { name: 'c' } }] } })),
  mirror('csi', volume({ csi: { driver: 'd.example.com' } })),
  mirror('host', volume({ hostPath: { path: '/x' } })),
  asNode(merge(`${pods}/mine`, { metadata: { labels: { a: 'b' } } })),
  asNode(merge(`${pods}/mine/status`, { status: { phase: 'Running' } })),
  asNode(merge(`${pods}/theirs/status`, { status: { phase: 'Running' } })),
  asNode(merge(`${pods}/mine/status`, { metadata: { labels: { a: 'b' } } })),
  asNode(post(`${pods}/theirs/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'theirs' } })),
  asNode(post(`${pods}/none/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'none' } })),
  asNode(post(`${pods}/mine/binding`, { metadata: { name: 'mine' }, target: { kind: 'Node', name: 'n1' } })),
  asNode(remove(`${pods}/theirs`)),
  asNode(post('/api/v1/nodes', { metadata: { name: 'n3' } })),
  asNode(merge('/api/v1/nodes/n2', { metadata: { labels: { a: 'b' } } })),
  label('a'),
  label('example.com/a'),
  label('kubernetes.io/os'),
  label('x.kubelet.kubernetes.io/a'),
  label('node-restriction.kubernetes.io/a'),
  label('b.node-restriction.kubernetes.io/a'),
  label('x.k8s.io/a'),
  asNode(merge('/api/v1/nodes/n1', { spec: { taints: [] } })),
  asNode(merge('/api/v1/nodes/n1/status', { status: { phase: 'Running' } })),
  lease('default', 'n1'),
  lease('kube-node-lease', 'n2'),
  lease('kube-node-lease', 'n1'),
  asNode(
    post('/apis/storage.k8s.io/v1/csinodes', {
      metadata: { name: 'n2' },
      spec: { drivers: [{ name: 'd', nodeID: 'n' }] },
    }),
  ),
  asNode(
    post('/apis/storage.k8s.io/v1/csinodes', {
      metadata: { name: 'n1' },
      spec: { drivers: [{ name: 'd', nodeID: 'n' }] },
    }),
  ),
  asNode(
    post(inNamespace('noded', 'persistentvolumeclaims'), {
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }),
  ),
  ...['', 'theirs', 'mine'].map((name) =>
    asNode(
      post(
        inNamespace('noded', 'serviceaccounts/default/token'),
        {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: {
            audiences: [],
            ...(name === ''
              ? {}
              : {
                  boundObjectRef: {
                    apiVersion: 'v1',
                    kind: 'Pod',
                    name,
                    uid: name === 'mine' ? '{{podUid}}' : '{{otherUid}}',
                  },
                }),
          },
        },
        name === 'mine' ? { codeOnly: true } : {},
      ),
    ),
  ),
];
