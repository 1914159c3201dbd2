/** Selectors sent to a real kube-apiserver, which must select the same objects or refuse with the same message. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../object.ts';
import { StatusError } from '../status/status.ts';
import { seededRandom } from '../testing/random-object.ts';
import { startRealServer } from '../testing/real-server.ts';
import type { RealServer } from '../testing/real-server.ts';
import { fieldSelectorFor, parseLabelSelector } from './index.ts';
import type { SelectedKind } from './index.ts';

let server: RealServer;
before(async () => {
  server = await startRealServer();
  await Promise.all(objects.map(([path, object]) => create(path, object)));
  await create('/apis/example.com/v1/namespaces/default/paints', paint('red', { color: 'red', shade: 1.5, new: true }));
  await create('/apis/example.com/v1/namespaces/default/paints', paint('none', {}));
});
after(() => server[Symbol.asyncDispose]());

const configMap = (name: string, labels: Record<string, string>): unknown => ({ metadata: { name, labels } });
const paint = (name: string, spec: unknown): unknown => ({
  apiVersion: 'example.com/v1',
  kind: 'Paint',
  metadata: { name },
  spec,
});
const pod = (name: string, spec: object): unknown => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false, ...spec },
});
const event = (name: string, more: object): unknown => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'p', uid: 'u', apiVersion: 'v1', fieldPath: 'spec' },
  ...more,
});

const base = '/api/v1/namespaces/default';
const objects: readonly [string, unknown][] = [
  [`${base}/configmaps`, configMap('plain', {})],
  [`${base}/configmaps`, configMap('one', { a: '1', b: 'x', 'example.com/c': '' })],
  [`${base}/configmaps`, configMap('ten', { a: '10', b: 'y', in: 'in', notin: 'notin' })],
  [`${base}/configmaps`, configMap('text', { a: 'text', b: '', constructor: 'z' })],
  [`${base}/pods`, pod('free', {})],
  [`${base}/pods`, pod('bound', { nodeName: 'n', hostNetwork: true, restartPolicy: 'Never', schedulerName: 's' })],
  [`${base}/events`, event('old', { reason: 'R', source: { component: 'kubelet' }, type: 'Normal' })],
  [`${base}/events`, event('new', { reportingComponent: 'controller', reportingInstance: 'i', type: 'Warning' })],
  ['/api/v1/nodes', { metadata: { name: 'n' }, spec: { unschedulable: true } }],
  ['/api/v1/nodes', { metadata: { name: 'm' } }],
  [`${base}/secrets`, { metadata: { name: 's' }, type: 'example.com/t' }],
  [`${base}/services`, { metadata: { name: 's' }, spec: { clusterIP: 'None', ports: [{ port: 80 }] } }],
  [
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      metadata: { name: 'paints.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'paints', singular: 'paint', kind: 'Paint' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.new' }],
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    properties: { color: { type: 'string' }, shade: { type: 'number' }, new: { type: 'boolean' } },
                  },
                },
              },
            },
          },
        ],
      },
    },
  ],
];

/** A kind that was just defined is served after a moment. */
async function create(path: string, object: unknown): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const { status, body } = await server.request('POST', path, { body: JSON.stringify(object) });
    if (status === 201) return;
    assert.ok(status === 404 && attempt < 200, body.toString());
    await sleep(50);
  }
}

interface Answer {
  readonly items?: readonly KubeObject[];
  readonly message?: string;
}

async function list(path: string, query = ''): Promise<Answer> {
  return JSON.parse((await server.request('GET', `${path}${query}`)).body.toString()) as Answer;
}

const shown = ({ items, message }: Answer): string =>
  items ? items.map(({ metadata }) => metadata.name).join(' ') : message!;

/** Returns the objects that we select, or our refusal. */
function ours(all: readonly KubeObject[], matcher: () => (object: KubeObject) => boolean): Answer {
  try {
    return { items: all.filter(matcher()) };
  } catch (error) {
    assert.ok(error instanceof StatusError && error.code === 'BadRequest', String(error));
    return { message: error.message };
  }
}

const labelSelectors = [
  '',
  ' ',
  'a',
  '!a',
  'a=1',
  'a==1',
  'a!=1',
  'a in (1,10)',
  'a notin (1, text)',
  'a>1',
  'a<10',
  'a>99999999999999999999',
  'in',
  'in in (in)',
  'notin notin (in)',
  'b=',
  'b in ()',
  'b in (,y)',
  'b in (x,,)',
  'example.com/c',
  'example.com/c,a=1',
  'constructor',
  'toString',
  'a=1,!b',
  ' a = 1 , b ',
  'a\u0000',
  'a=\u00001',
  '\u0000a',
  'a in (b',
  'a in b',
  '=',
  'a=b c',
  '!',
  '!a,',
  'a b',
  'a>x',
  'a/b/c=1',
  'a=$$',
  'A_b/=1',
  ',',
  'a,,b',
  'a==b=c',
  'a!',
  '()',
  'a in ((',
  'a in (b,(',
  'a in (,',
  'a<',
  'a in (b,c))',
  'é=1',
  'a in (b, $ ,%)',
  'a===b',
  'a=!b',
  '&',
  '<>',
  '!=a',
  '!a=b',
  'x in (1 2)',
  '!in',
  'a in',
  `${'k'.repeat(64)}=1`,
  `a=${'v'.repeat(64)}`,
  `${'d'.repeat(254)}/a`,
  'a=-1',
  'a.=1',
  '/a',
  'a/',
  'a gt 1',
  'a in(1)',
];

test('label selectors select the same objects or are refused in the same words', async () => {
  const words = ['a', 'b', 'in', 'notin', '(', ')', ',', '=', '==', '!=', '!', '<', '>', ' ', '1', '10', 'x', 'b/'];
  const random = seededRandom(1);
  const word = (): string => words[Math.floor(random() * words.length)]!;
  const nonsense = Array.from({ length: 300 }, () =>
    Array.from({ length: 1 + Math.floor(random() * 8) }, word).join(''),
  );
  const { items = [] } = await list(`${base}/configmaps`);
  for (const text of [...labelSelectors, ...nonsense]) {
    const theirs = await list(`${base}/configmaps`, `?labelSelector=${encodeURIComponent(text)}`);
    const own = ours(items, () => {
      const selector = parseLabelSelector(text);
      // The canonical text must mean the same.
      assert.deepEqual(parseLabelSelector(`${selector}`).requirements.map(String), selector.requirements.map(String));
      return ({ metadata }) => selector.matches(metadata.labels);
    });
    assert.equal(shown(own), shown(theirs), JSON.stringify(text));
  }
});

const v1 = (kind: string): SelectedKind => ({ apiVersion: 'v1', kind });
const paints: SelectedKind = {
  apiVersion: 'example.com/v1',
  kind: 'Paint',
  selectableFields: ['.spec.color', '.spec.new'],
};
const fieldSelectors: readonly [SelectedKind, string, ...string[]][] = [
  [
    v1('ConfigMap'),
    `${base}/configmaps`,
    'metadata.name=one',
    'metadata.name==one',
    'metadata.name!=one',
    'metadata.name',
    'x=y',
    'metadata.name=one,',
    ',',
    '=',
    '!=',
    '=,=',
    '=a',
    'metadata.name=a\\,b',
    'metadata.name=a\\b',
    'metadata.name=a=b',
    'metadata.name=\\',
    'a"b=1',
    'metadata.name=one,metadata.name=ten',
    'metadata.namespace=default',
    'metadata.namespace!=default',
    'metadata.name=a,foo',
    'constructor=1',
    '__proto__=1',
    'metadata.name!=one,metadata.name!=ten',
    'b=1,a=1',
    'metadata.name=\\😀',
    'metadata.name=a,b\\',
  ],
  [
    v1('Pod'),
    `${base}/pods`,
    'spec.nodeName=n',
    'spec.nodeName=',
    'spec.host=n',
    'spec.hostNetwork=true',
    'spec.hostNetwork=false',
    'status.phase=Pending',
    'spec.restartPolicy=Never',
    'spec.schedulerName!=s',
    'spec.serviceAccountName=default',
    'status.podIP=',
    'status.podIPs=',
    'status.nominatedNodeName=',
    'spec.priority=1',
    'status.podIPs=1.2.3.4',
  ],
  [
    v1('Event'),
    `${base}/events`,
    'involvedObject.kind=Pod',
    'involvedObject.name!=p',
    'involvedObject.uid=u',
    'involvedObject.fieldPath=spec',
    'reason=R',
    'source=kubelet',
    'source=controller',
    'reportingComponent=controller',
    'type=Warning',
    'regarding.name=p',
    'involvedObject.resourceVersion=',
    'involvedObject.apiVersion=v1',
    'involvedObject.namespace=default',
  ],
  [
    { apiVersion: 'events.k8s.io/v1', kind: 'Event' },
    '/apis/events.k8s.io/v1/namespaces/default/events',
    'regarding.kind=Pod',
    'regarding.name=p',
    'reportingController=controller',
    'source=kubelet',
    'type=Normal',
    'reason=R',
    'involvedObject.kind=Pod',
    'regarding.uid=u',
    'metadata.name=old',
  ],
  [
    v1('Node'),
    '/api/v1/nodes',
    'spec.unschedulable=true',
    'spec.unschedulable=false',
    'metadata.namespace=',
    'metadata.name=n',
  ],
  [
    v1('Namespace'),
    '/api/v1/namespaces',
    'status.phase=Active',
    'name=default',
    'metadata.namespace=x',
    'metadata.name=default',
  ],
  [v1('Secret'), `${base}/secrets`, 'type=example.com/t', 'type=', 'x=1'],
  [v1('Service'), `${base}/services`, 'spec.clusterIP=None', 'spec.type=ClusterIP', 'spec.type!=ClusterIP', 'spec.x=1'],
  [v1('ReplicationController'), `${base}/replicationcontrollers`, 'status.replicas=0', 'x=1'],
  [{ apiVersion: 'batch/v1', kind: 'Job' }, '/apis/batch/v1/jobs', 'status.successful=0', 'status.succeeded=0'],
  [{ apiVersion: 'apps/v1', kind: 'ReplicaSet' }, '/apis/apps/v1/replicasets', 'status.replicas=0', 'metadata.name=x'],
  [
    { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' },
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    'spec.signerName=x',
    'metadata.namespace=x',
  ],
  [
    { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice' },
    '/apis/resource.k8s.io/v1/resourceslices',
    'spec.driver=x',
    'x=1',
  ],
  [
    paints,
    '/apis/example.com/v1/namespaces/default/paints',
    'spec.color=red',
    'spec.color=',
    'spec.new=true',
    'spec.new!=true',
    'spec.shade=1.5',
    '.spec.color=red',
    'metadata.name=red',
    'metadata.namespace=default',
    'constructor=1',
  ],
];

test('field selectors select the same objects or are refused in the same words', async () => {
  for (const [kind, path, ...texts] of fieldSelectors) {
    const { items = [] } = await list(path);
    for (const text of texts) {
      const theirs = await list(path, `?fieldSelector=${encodeURIComponent(text)}`);
      const own = ours(items, () => {
        const selector = fieldSelectorFor(kind, text);
        return (object) => selector.matches(object);
      });
      assert.equal(shown(own), shown(theirs), `${kind.kind} ${text}`);
    }
  }
});
