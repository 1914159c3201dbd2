/** Default storage and ingress classes, protection finalizers, and claims that grow. */

import type { Step } from '../../../testing/both-servers.ts';
import { inNamespace, merge, namespace, post } from './steps.ts';

const claims = inNamespace('storage', 'persistentvolumeclaims');
const ingresses = '/apis/networking.k8s.io/v1/namespaces/storage/ingresses';
const storageClass = (name: string, isDefault: boolean, rest: object = {}): Step =>
  post('/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name, annotations: { 'storageclass.kubernetes.io/is-default-class': String(isDefault) } },
    provisioner: 'p',
    ...rest,
  });
const ingressClass = (name: string, isDefault: boolean): Step =>
  post('/apis/networking.k8s.io/v1/ingressclasses', {
    metadata: { name, annotations: { 'ingressclass.kubernetes.io/is-default-class': String(isDefault) } },
    spec: { controller: 'example.com/c' },
  });

export const storageSetup: readonly Step[] = [
  namespace('storage'),
  storageClass('b', true, { allowVolumeExpansion: true }),
  storageClass('c', false),
  ingressClass('b', true),
  ingressClass('c', false),
];

const claim = (name: string, spec: object = {}, metadata: object = {}): Step =>
  post(claims, {
    metadata: { name, ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  });
const bind = (name: string): Step => merge(`${claims}/${name}/status`, { status: { phase: 'Bound' } });
const grow = (name: string, storage: string): Step =>
  merge(`${claims}/${name}`, { spec: { resources: { requests: { storage } } } });
const ingress = (name: string, spec: object = {}, metadata: object = {}): Step =>
  post(ingresses, {
    metadata: { name, ...metadata },
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } }, ...spec },
  });

export const storage: readonly Step[] = [
  claim('default'),
  claim('none', { storageClassName: '' }),
  claim('other', { storageClassName: 'c' }),
  claim('old', {}, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'c' } }),
  claim('protected', {}, { finalizers: ['kubernetes.io/pvc-protection'] }),
  claim('finalized', {}, { finalizers: ['example.com/f'] }),
  post('/api/v1/persistentvolumes', {
    metadata: { name: 'v' },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/v' } },
  }),
  post('/apis/storage.k8s.io/v1/volumeattributesclasses', {
    metadata: { name: 'v' },
    driverName: 'd.example.com',
    parameters: { a: 'b' },
  }),
  grow('default', '2Gi'),
  bind('default'),
  grow('default', '2Gi'),
  grow('default', '2Gi'),
  bind('other'),
  grow('other', '2Gi'),
  bind('none'),
  grow('none', '2Gi'),
  ingress('default'),
  ingress('named', { ingressClassName: 'c' }),
  ingress('annotated', {}, { annotations: { 'kubernetes.io/ingress.class': 'x' } }),
];
