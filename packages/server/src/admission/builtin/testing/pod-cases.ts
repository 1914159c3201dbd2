/** Fields that pods get from classes: priority, preemption, overhead, scheduling; tolerations; and the taint of new nodes. */

import type { Step } from '../../../testing/both-servers.ts';
import { container, get, inNamespace, merge, namespace, pod, post, put } from './steps.ts';

const pods = inNamespace('classes', 'pods');
const priorityClasses = '/apis/scheduling.k8s.io/v1/priorityclasses';
const runtimeClasses = '/apis/node.k8s.io/v1/runtimeclasses';

const runtime = (name: string, rest: object): Step =>
  post(runtimeClasses, { metadata: { name }, handler: 'h', ...rest });

export const podDefaultSetup: readonly Step[] = [
  namespace('classes'),
  post(inNamespace('classes', 'serviceaccounts'), { metadata: { name: 'default' } }),
  post(priorityClasses, { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' }),
  post(priorityClasses, { metadata: { name: 'usual' }, value: 10, globalDefault: true }),
  post('/api/v1/nodes', {
    metadata: { name: 'zoned', labels: { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' } },
    spec: { taints: [{ key: 'a', effect: 'NoExecute' }] },
  }),
  merge('/api/v1/nodes/zoned/status', { status: { allocatable: { cpu: '1', memory: '1Gi' } } }),
  runtime('plain', {}),
  runtime('heavy', { overhead: { podFixed: { cpu: '250m', memory: '64Mi' } } }),
  runtime('placed', {
    scheduling: {
      nodeSelector: { disk: 'fast', __proto__x: 'y' },
      tolerations: [
        { key: 'runtime', operator: 'Exists' },
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists' },
      ],
    },
  }),
];

const sized = (cpu: string, memory: string): object => container('c', { resources: { requests: { cpu, memory } } });
const grow = (cpu: string, memory: string): Step =>
  merge(`${pods}/growing/resize`, { spec: { containers: [sized(cpu, memory)] } }, { ignore: ['status.conditions'] });
const create = (name: string, spec: object): Step => post(pods, pod(name, spec));

export const podDefaults: readonly Step[] = [
  create('usual', {}),
  create('high', { priorityClassName: 'high' }),
  create('critical', { priorityClassName: 'system-node-critical' }),
  create('right', { priorityClassName: 'high', priority: 1000, preemptionPolicy: 'Never' }),
  create('wrong', { priorityClassName: 'high', priority: 7 }),
  create('wrong-policy', { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' }),
  create('unknown', { priorityClassName: 'nothing' }),
  create('constructor', { priorityClassName: 'constructor' }),
  merge(`${pods}/high`, { metadata: { labels: { a: 'b' } }, spec: { priority: null, preemptionPolicy: null } }),
  post(priorityClasses, { metadata: { name: 'second' }, value: 11, globalDefault: true }),
  merge(`${priorityClasses}/high`, { globalDefault: true }),
  merge(`${priorityClasses}/usual`, { description: 'd' }),
  create('tolerant', { tolerations: [{ operator: 'Exists' }] }),
  create('half-tolerant', {
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
    ],
  }),
  create('otherwise', {
    tolerations: [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoSchedule' }],
  }),
  create('runtime', { runtimeClassName: 'plain' }),
  create('no-runtime', { runtimeClassName: 'nothing' }),
  create('heavy', { runtimeClassName: 'heavy' }),
  create('heavy-right', { runtimeClassName: 'heavy', overhead: { cpu: '0.25', memory: '64Mi' } }),
  create('heavy-wrong', { runtimeClassName: 'heavy', overhead: { cpu: '1' } }),
  create('overhead', { overhead: { cpu: '1' } }),
  create('placed', { runtimeClassName: 'placed', nodeSelector: { a: 'b' } }),
  create('placed-wrong', { runtimeClassName: 'placed', nodeSelector: { disk: 'slow' } }),
  post('/api/v1/nodes', { metadata: { name: 'fresh' } }),
  post('/api/v1/nodes', {
    metadata: { name: 'tainted' },
    spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
  }),
  create('in-zone', { nodeName: 'zoned' }),
  create('nowhere', { nodeName: 'nothing' }),
  create('bound-later', {}),
  post(`${pods}/bound-later/binding`, { metadata: { name: 'bound-later' }, target: { kind: 'Node', name: 'zoned' } }),
  get(`${pods}/bound-later`, { ignore: ['status.conditions'] }),
  create('growing', { nodeName: 'zoned', containers: [sized('100m', '1Mi')] }),
  grow('200m', '2Mi'),
  grow('2', '2Mi'),
  grow('3', '2Gi'),
  create('image', { containers: [container('c', { imagePullPolicy: 'Never' })] }),
  create('device', {
    containers: [container('c', { resources: { limits: { 'example.com/b': '1', 'example.com/a': '1' } } })],
  }),
  post(inNamespace('classes', 'services'), {
    metadata: { name: 'external' },
    spec: { ports: [{ port: 80 }], externalIPs: ['1.2.3.4'] },
  }),
  post(pods, pod('late')),
  get(`${pods}/late`),
  put(`${pods}/late`, { ...pod('late'), metadata: { name: 'late', labels: { changed: 'yes' } } }, { codeOnly: true }),
];
