/** Volumes, claims and storage.k8s.io. */

import { all, selector, specs } from './build.ts';

export const storage = [
  specs(
    'v1',
    'PersistentVolume',
    { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
    {
      capacity: { storage: '1.0001' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Delete',
      volumeMode: 'Block',
      iscsi: { targetPortal: '1.2.3.4:3260', iqn: 'iqn.2001-04.com.example:storage.kube.sys1.xyz', lun: 0 },
    },
    {
      capacity: { storage: '1' },
      accessModes: ['ReadWriteOnce'],
      scaleIO: { gateway: 'g', system: 's', secretRef: { name: 'x' }, volumeName: 'v' },
    },
    { capacity: { storage: '1' }, accessModes: ['ReadWriteOnce'], rbd: { monitors: ['m'], image: 'i' } },
    { capacity: { storage: '1' }, accessModes: ['ReadWriteOnce'], csi: { driver: 'd.example', volumeHandle: 'h' } },
  ),
  ...['PersistentVolumeClaim'].map((kind) =>
    specs(
      'v1',
      kind,
      ...[
        {},
        { dataSource: { kind: 'PersistentVolumeClaim', name: 'x' } },
        { dataSource: { kind: 'Nonsense', name: 'x' } },
        { dataSourceRef: { kind: 'VolumeSnapshot', name: 'x', apiGroup: 'snapshot.storage.k8s.io' } },
        { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'x', namespace: 'other' } },
        { storageClassName: '', volumeMode: 'Block', selector },
      ].map((more) => ({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more })),
    ),
  ),
  all(
    'storage.k8s.io/v1',
    'StorageClass',
    { provisioner: 'example.com/p' },
    {
      provisioner: 'example.com/p',
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
      parameters: { a: 'b' },
    },
  ),
  specs(
    'storage.k8s.io/v1',
    'CSIDriver',
    {},
    {
      attachRequired: false,
      volumeLifecycleModes: ['Ephemeral'],
      tokenRequests: [{ audience: 'a' }],
      preventPodSchedulingIfMissing: true,
    },
  ),
  specs(
    'storage.k8s.io/v1',
    'CSINode',
    { drivers: [] },
    {
      drivers: [{ name: 'd.example', nodeID: 'n', topologyKeys: ['a'], allocatable: { count: 3 } }],
    },
  ),
  all(
    'storage.k8s.io/v1',
    'CSIStorageCapacity',
    { storageClassName: 's' },
    { storageClassName: 's', capacity: '1.5Gi', nodeTopology: selector },
  ),
  all(
    'storage.k8s.io/v1',
    'VolumeAttachment',
    {
      spec: { attacher: 'd.example', nodeName: 'n', source: { persistentVolumeName: 'p' } },
      status: { attached: true },
    },
    {
      spec: {
        attacher: 'd.example',
        nodeName: 'n',
        source: {
          inlineVolumeSpec: {
            accessModes: ['ReadWriteOnce'],
            csi: { driver: 'd.example', volumeHandle: 'h' },
          },
        },
      },
    },
  ),
  all('storage.k8s.io/v1', 'VolumeAttributesClass', { driverName: 'd.example', parameters: { a: 'b' } }),
];
