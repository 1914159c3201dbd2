/** LimitRanger: defaults with their annotation, and the message of every rule. */

import type { Step } from '../../../testing/both-servers.ts';
import { container, inNamespace, merge, namespace, pod, post } from './steps.ts';

const range = (space: string, name: string, limits: object[]): Step =>
  post(inNamespace(space, 'limitranges'), { metadata: { name }, spec: { limits } });
const account = (space: string): Step => post(inNamespace(space, 'serviceaccounts'), { metadata: { name: 'default' } });

const spaces = ['limit-defaults', 'limit-containers', 'limit-pods', 'limit-ratio', 'limit-claims'];

export const limitSetup: readonly Step[] = [
  ...spaces.flatMap((name) => [namespace(name), account(name)]),
  range('limit-defaults', 'a', [
    { type: 'Container', default: { cpu: '500m', memory: '64Mi' }, defaultRequest: { cpu: '100m' } },
  ]),
  range('limit-containers', 'a', [{ type: 'Container', min: { cpu: '100m' } }]),
  range('limit-containers', 'b', [{ type: 'Container', max: { memory: '1Gi' } }]),
  range('limit-pods', 'a', [{ type: 'Pod', max: { cpu: '1' } }]),
  range('limit-ratio', 'a', [{ type: 'Container', maxLimitRequestRatio: { cpu: '2500m' } }]),
  range('limit-claims', 'a', [{ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } }]),
];

const sized = (name: string, requests: object, limits: object, rest: object = {}): object =>
  container(name, { resources: { requests, limits }, ...rest });

const create = (space: string, name: string, containers: object[], spec: object = {}): Step =>
  post(inNamespace(space, 'pods'), pod(name, { containers, ...spec }));

const claim = (name: string, requests: object): Step =>
  post(inNamespace('limit-claims', 'persistentvolumeclaims'), {
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests } },
  });

const memory = { memory: '64Mi' };

export const limits: readonly Step[] = [
  create('limit-defaults', 'nothing', [container('a'), container('b')], { initContainers: [container('i')] }),
  create('limit-defaults', 'some', [sized('a', { cpu: '200m' }, {}), sized('b', {}, { memory: '1Gi' })]),
  create('limit-defaults', 'all', [sized('a', { cpu: '200m', memory: '1Mi' }, { cpu: '300m', memory: '2Mi' })]),
  create('limit-containers', 'little', [sized('a', { cpu: '50m', ...memory }, memory)]),
  create('limit-containers', 'little-limit', [sized('a', { cpu: '0.05', ...memory }, { cpu: '90m', ...memory })]),
  create('limit-containers', 'none', [sized('a', memory, memory)]),
  create('limit-containers', 'much', [sized('a', { cpu: '1', memory: '2Gi' }, { memory: '2Gi' })]),
  create('limit-containers', 'unlimited', [sized('a', { cpu: '1', memory: '2Gi' }, {})]),
  create('limit-containers', 'two', [
    sized('a', { cpu: '1m', ...memory }, memory),
    sized('b', { cpu: '2m', ...memory }, memory),
  ]),
  create('limit-containers', 'init', [sized('a', { cpu: '1', ...memory }, memory)], {
    initContainers: [sized('i', { cpu: '1m', ...memory }, memory)],
  }),
  create('limit-containers', 'right', [sized('a', { cpu: '1', ...memory }, memory)]),
  merge(inNamespace('limit-containers', 'pods/right/resize'), {
    spec: { containers: [sized('a', { cpu: '10m', ...memory }, memory)] },
  }),
  create('limit-pods', 'much', [sized('a', { cpu: '600m' }, { cpu: '600m' }), sized('b', {}, { cpu: '500m' })]),
  create('limit-pods', 'sidecar', [sized('a', {}, { cpu: '600m' })], {
    initContainers: [sized('s', {}, { cpu: '500m' }, { restartPolicy: 'Always' })],
  }),
  create('limit-pods', 'init', [sized('a', {}, { cpu: '600m' })], {
    initContainers: [sized('i', {}, { cpu: '900m' })],
  }),
  create('limit-pods', 'whole', [sized('a', {}, { cpu: '600m' })], { resources: { limits: { cpu: '2' } } }),
  create('limit-ratio', 'far', [sized('a', { cpu: '100m' }, { cpu: '1' })]),
  create('limit-ratio', 'near', [sized('a', { cpu: '100m' }, { cpu: '250m' })]),
  create('limit-ratio', 'no-request', [sized('a', {}, {})]),
  create('limit-ratio', 'no-limit', [sized('a', { cpu: '1' }, {})]),
  claim('small', { storage: '1Mi' }),
  claim('large', { storage: '6Gi' }),
  claim('right', { storage: '2Gi' }),
];
