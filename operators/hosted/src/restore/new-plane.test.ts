import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotations, pausedAnnotation } from '../api/index.ts';
import type { PayloadHead } from '../backup/payload.ts';
import { versionFault } from './compatibility.ts';
import { newPlane } from './new-plane.ts';
import type { RestoreState } from './state.ts';

const backup = { schedule: '@daily', secret: { name: 's3' } };
const head = (change: Partial<PayloadHead['spec']> = {}): PayloadHead => ({
  controlPlane: { namespace: 'team', name: 'demo' },
  spec: {
    version: 'v1.36.4',
    etcd: { replicas: 3, backup },
    controlPlaneEndpoint: { host: 'demo.example', port: 6443 },
    ...change,
  },
  annotations: { [annotations.rendering]: '1' },
  versions: { kubernetes: 'v1.36.4', etcd: '3.6.8' },
  objects: [],
  hasKeys: true,
  snapshot: { bytes: 5, sha256: '', revision: 7, entries: 2, contentDigest: '' },
});
const state = { uid: 'u1' } as RestoreState;
const plane = (name: string, isDrill = false, change?: Partial<PayloadHead['spec']>) =>
  newPlane(head(change), { namespace: 'team', name, labels: {}, isDrill, state });

test('a control plane of another name has its own address', () => {
  assert.equal(plane('copy').spec.controlPlaneEndpoint, undefined);
  assert.deepEqual(plane('copy', false, { frontDoor: { host: 'a.example' } }).spec.frontDoor, {});
});

test('the same control plane keeps a host name, but not an IP address of a Service that is gone', () => {
  assert.equal(plane('demo').spec.controlPlaneEndpoint?.host, 'demo.example');
  const address = { controlPlaneEndpoint: { host: '192.0.2.1', port: 6443 } };
  assert.equal(plane('demo', false, address).spec.controlPlaneEndpoint, undefined);
});

test('a drill makes no backups and needs no Cluster; a restored control plane makes backups', () => {
  const drill = plane('drill', true);
  assert.equal(drill.spec.etcd?.backup, undefined);
  assert.equal(drill.metadata.annotations[annotations.standalone], 'true');
  assert.deepEqual(plane('copy').spec.etcd?.backup, backup);
});

test('a new control plane is paused until its Secrets exist', () => {
  const noted: Readonly<Record<string, string | undefined>> = plane('copy').metadata.annotations;
  assert.equal(noted[pausedAnnotation], '');
  assert.equal(noted[annotations.rendering], '1');
});

test('data of newer versions is refused', () => {
  const fault = (kubernetes: string, etcd: string | undefined) => versionFault(head(), { kubernetes, etcd });
  assert.equal(fault('v1.36.0', '3.6.5-0'), undefined);
  assert.equal(fault('v1.37.0', '3.7.0'), undefined);
  assert.match(fault('v1.35.9', '3.6.5-0')!, /Kubernetes v1\.36\.4/);
  assert.match(fault('v1.36.0', '3.5.24-0')!, /etcd 3\.6\.8/);
  assert.equal(fault('v1.36.0', undefined), undefined);
});
