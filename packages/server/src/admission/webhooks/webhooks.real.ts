/** Compares the same webhooks with a real kube-apiserver: the reviews they receive and the responses to clients. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import type { RealServer } from '@hangar/api/testing';
import { Outbound } from '../../outbound/index.ts';
import { compareServers } from '../../testing/both-servers.ts';
import type { Step } from '../../testing/both-servers.ts';
import { startInProcess } from '../../testing/in-process.ts';
import type { InProcessServer } from '../../testing/in-process.ts';
import { allowed, answered, denied, patched, startWebhook } from '../../testing/webhook-server.ts';
import type { WebhookHandler, WebhookServer } from '../../testing/webhook-server.ts';

let real: RealServer;
let hangar: InProcessServer;
let outbound: Outbound;
let hook: WebhookServer;

const base = '/apis/admissionregistration.k8s.io/v1';
const configMaps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';

const add = (path: string, value: unknown): object => ({ op: 'add', path, value });

/** Behaviour of the webhook by path. */
const behaviours: Record<string, WebhookHandler> = {
  '/allow': (review) => allowed(review),
  '/label': (review) =>
    patched(review, [add('/metadata/labels', { ...review.request.object.metadata.labels, hook: 'was-here' })]),
  '/data': (review) => patched(review, [add('/data', { ...review.request.object.data, hook: 'x' })]),
  '/again': (review) =>
    patched(review, [
      add('/data', { ...review.request.object.data, again: `${review.request.object.data?.again ?? ''}i` }),
    ]),
  '/replicas': (review) => patched(review, [add('/spec/replicas', 7)]),
  '/container': (review) =>
    patched(review, [add('/spec/template/spec/containers/-', { name: 'more', image: 'more:1' })]),
  '/unknown': (review) => patched(review, [add('/nonsense', { a: 1 })]),
  '/type': (review) => patched(review, [add('/data', { a: 1 })]),
  '/fields': (review) => patched(review, [add('/metadata/managedFields', [{ manager: 'x', operation: 'Nonsense' }])]),
  '/nofields': (review) => patched(review, [{ op: 'remove', path: '/metadata/managedFields' }]),
  '/rename': (review) => patched(review, [{ op: 'replace', path: '/metadata/name', value: 'renamed' }]),
  '/move': (review) => patched(review, [{ op: 'replace', path: '/metadata/namespace', value: 'kube-system' }]),
  '/nothing': (review) => patched(review, []),
  '/warn': (review) => answered(review, { allowed: true, warnings: ['careful "now"', 'and then'] }),
  '/deny': (review) => denied(review),
  '/why': (review) =>
    denied(review, { message: 'because I say so', code: 402, reason: 'Payment', details: { name: 'x' } }),
  '/reason': (review) => denied(review, { reason: 'Invalid', code: 7 }),
  '/error': (_, response) => void response.writeHead(500).end('oh no'),
  '/missing': (_, response) => void response.writeHead(404).end(),
  '/teapot': (_, response) => void response.writeHead(418).end('tea'),
  '/garbage': (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
  '/empty': (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  '/absent': ({ apiVersion, kind }) => ({ apiVersion, kind }),
  '/uid': (review) => ({ ...allowed(review), response: { uid: '1', allowed: true } }),
  '/half': (review) => answered(review, { allowed: true, patch: Buffer.from('[{}]').toString('base64') }),
  '/merge': (review) =>
    answered(review, { allowed: true, patchType: 'Merge', patch: Buffer.from('[{}]').toString('base64') }),
  '/badpatch': (review) =>
    answered(review, { allowed: true, patchType: 'JSONPatch', patch: Buffer.from('{').toString('base64') }),
  '/slow': () => undefined,
  '/old': ({ apiVersion, kind }) => ({
    apiVersion,
    kind,
    response: {
      allowed: true,
      patch: Buffer.from(JSON.stringify([add('/metadata/labels', { old: '1' })])).toString('base64'),
    },
  }),
};

before(async () => {
  hook = await startWebhook((review, response, path) => behaviours[path]!(review, response, path));
  outbound = new Outbound({ allow: ['127.0.0.0/8'] });
  [real, hangar] = await Promise.all([startRealServer(), startInProcess({ outbound })]);
});

after(async () => {
  await real?.[Symbol.asyncDispose]();
  await hangar?.[Symbol.asyncDispose]();
  outbound?.close();
  await hook?.[Symbol.asyncDispose]();
});

const rule = (resources: string | string[] = 'configmaps', rest: object = {}): object => ({
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: [resources].flat(),
  operations: ['*'],
  ...rest,
});

const webhook = (path: string, rest: object = {}): object => ({
  name: `${path}.hooks.example.com`,
  clientConfig: hook.clientConfig(`/${path}`),
  rules: [rule()],
  objectSelector: { matchExpressions: [{ key: 'probe', operator: 'DoesNotExist' }] },
  sideEffects: 'None',
  admissionReviewVersions: ['v1', 'v1beta1'],
  ...rest,
});

const both = async (method: string, path: string, body?: object): Promise<void> => {
  for (const server of [real, hangar]) {
    const answer = await server.request(method, path, body ? { body: JSON.stringify(body) } : {});
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.body.toString()}`);
  }
};

let configured = 0;

/** Registers webhooks, waits until both servers use them, and removes them at the end. */
async function withWebhooks(
  kind: 'mutating' | 'validating',
  webhooks: readonly object[],
  run: () => Promise<void>,
): Promise<void> {
  const name = `config-${++configured}`;
  const probe = webhook('deny', { name: 'probe.hooks.example.com', objectSelector: { matchLabels: { probe: name } } });
  await both('POST', `${base}/${kind}webhookconfigurations`, { metadata: { name }, webhooks: [...webhooks, probe] });
  const asked = JSON.stringify({ metadata: { name: 'probe', labels: { probe: name } } });
  const isKnown = async (server: RealServer | InProcessServer): Promise<boolean> =>
    (await server.request('POST', `${configMaps}?dryRun=All`, { body: asked })).body.toString().includes('probe.hooks');
  try {
    for (const server of [real, hangar]) {
      for (let attempt = 0; !(await isKnown(server)); attempt++) {
        assert.ok(attempt < 200, 'the webhooks are not known');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    hook.received.length = 0;
    await run();
  } finally {
    await both('DELETE', `${base}/${kind}webhookconfigurations/${name}`);
  }
}

const ignored = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'time', 'lastTransitionTime']);

function clean(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value === 'string') return value.replace(/gen-[a-z0-9]{5}/, 'gen-');
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !ignored.has(name));
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, clean(one)]));
}

/** Returns the reviews of each server since the last call. Validating webhooks are called in any order. */
function askedBy(isHangar: boolean): unknown[] {
  const all = hook.received.filter(({ agent }) => agent.startsWith('hangar') === isHangar);
  return all
    .map(({ path, review }) => clean({ path, review }))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

async function compare(steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    hook.received.length = 0;
    const differences = await compareServers(real, hangar, [step]);
    assert.deepEqual(differences, []);
    assert.deepEqual(askedBy(true), askedBy(false), `${step.method} ${step.path}`);
  }
}

const configMap = (name: string, rest: object = {}): object => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name },
  data: { a: 'b' },
  ...rest,
});
const merge = 'application/merge-patch+json';
const apply = 'application/apply-patch+yaml';

const applied = (name: string): Step[] =>
  [configMap(name), configMap(name, { data: {} })].map((body) => ({
    method: 'PATCH',
    path: `${configMaps}/${name}?fieldManager=s`,
    body,
    contentType: apply,
  }));

const deployment = (name: string): object => ({
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

test('every kind of write is told in the same words', async () => {
  const everything = [rule('*/*', { apiGroups: ['', 'apps', 'authorization.k8s.io'] })];
  const quiet = { matchConditions: [{ name: 'mine', expression: 'request.userInfo.username == "admin"' }] };
  const connections = webhook('allow', {
    name: 'connections.hooks.example.com',
    objectSelector: {},
    rules: [rule('pods/*', { operations: ['CONNECT'] })],
  });
  await withWebhooks('validating', [webhook('allow', { rules: everything, ...quiet }), connections], () =>
    withWebhooks('mutating', [webhook('allow', { rules: everything, ...quiet }), connections], () =>
      // Managers in alphabetical order: then it does not matter whether two of them wrote in the same second.
      compare([
        { method: 'POST', path: `${configMaps}?fieldManager=a1&fieldValidation=Strict`, body: configMap('a') },
        { method: 'POST', path: `${configMaps}?dryRun=All`, body: configMap('dry') },
        { method: 'POST', path: configMaps, body: { metadata: { generateName: 'gen-' } }, codeOnly: true },
        { method: 'PUT', path: `${configMaps}/a?fieldManager=a2`, body: configMap('a', { data: { a: 'c' } }) },
        { method: 'PATCH', path: `${configMaps}/a?fieldManager=a3`, body: { data: { x: 'y' } }, contentType: merge },
        {
          method: 'PATCH',
          path: `${configMaps}/a?fieldManager=s&force=true`,
          body: configMap('a', { data: { s: '1' } }),
          contentType: apply,
        },
        { method: 'PATCH', path: `${configMaps}/new?fieldManager=s`, body: configMap('new'), contentType: apply },
        { method: 'DELETE', path: `${configMaps}/a`, body: { propagationPolicy: 'Background' } },
        { method: 'DELETE', path: `${configMaps}/new?gracePeriodSeconds=5` },
        { method: 'DELETE', path: `${configMaps}/none` },
        { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'space' } } },
        {
          method: 'PATCH',
          path: '/api/v1/namespaces/space',
          body: { metadata: { labels: { a: 'b' } } },
          contentType: merge,
        },
        {
          method: 'PATCH',
          path: '/api/v1/namespaces/space/status',
          body: { metadata: { labels: { a: 'c' } } },
          contentType: merge,
        },
        { method: 'POST', path: deployments, body: deployment('d') },
        {
          method: 'PATCH',
          path: `${deployments}/d/status`,
          body: { status: { observedGeneration: 1 } },
          contentType: merge,
        },
        { method: 'PATCH', path: `${deployments}/d/scale`, body: { spec: { replicas: 3 } }, contentType: merge },
        { method: 'DELETE', path: `${deployments}/d?dryRun=All` },
        {
          method: 'POST',
          path: '/api/v1/namespaces/default/pods/none/exec?command=ls&command=-l&stdout=true&container=c',
        },
        { method: 'GET', path: '/api/v1/namespaces/default/pods/none/proxy/a/b' },
        {
          method: 'POST',
          path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          body: { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
        },
      ]),
    ),
  );
});

test('what webhooks change is treated alike, and owned alike', async () => {
  const cases = ['label', 'data', 'unknown', 'nofields', 'nothing', 'old', 'rename', 'move', 'fields', 'type'];
  for (const name of cases) {
    const rest = name === 'old' ? { admissionReviewVersions: ['v1beta1'] } : {};
    await withWebhooks(
      'mutating',
      [webhook(name, { rules: [rule('configmaps', { operations: ['CREATE'] })], ...rest })],
      async () => {
        await compare([
          { method: 'POST', path: `${configMaps}?fieldManager=me`, body: configMap(`m-${name}`) },
          {
            method: 'PATCH',
            path: `${configMaps}/m-${name}?fieldManager=other`,
            body: { data: { more: '1', hook: 'y' } },
            contentType: merge,
          },
          // Kubernetes stores an object that was renamed during apply under the key of its old name.
          ...(name === 'rename' ? [] : applied(`s-${name}`)),
        ]);
      },
    );
  }
  await withWebhooks(
    'mutating',
    [
      webhook('replicas', { rules: [rule('deployments')] }),
      webhook('container', { rules: [rule('deployments', { operations: ['CREATE'] })] }),
    ],
    () =>
      compare([
        { method: 'POST', path: deployments, body: deployment('e') },
        { method: 'PATCH', path: `${deployments}/e`, body: { spec: { replicas: 2 } }, contentType: merge },
      ]),
  );
});

test('webhooks are asked again alike', async () => {
  const ifNeeded = { reinvocationPolicy: 'IfNeeded' };
  const sets = [
    [webhook('again', ifNeeded), webhook('data')],
    [webhook('data'), webhook('again', ifNeeded)],
    [webhook('again', ifNeeded), webhook('allow')],
    [webhook('again', ifNeeded), webhook('label', ifNeeded), webhook('data', ifNeeded)],
  ];
  for (const [at, set] of sets.entries()) {
    await withWebhooks('mutating', set, () =>
      compare([{ method: 'POST', path: configMaps, body: configMap(`again-${at}`) }]),
    );
  }
});

test('refusals and failures are told in the same words', async () => {
  const refusals = ['deny', 'why', 'reason', 'warn'];
  const failures = ['error', 'missing', 'teapot', 'empty', 'absent', 'uid', 'half', 'merge', 'badpatch'];
  for (const kind of ['validating', 'mutating'] as const) {
    for (const name of [...refusals, ...failures]) {
      await withWebhooks(kind, [webhook(name)], () =>
        compare([
          {
            method: 'POST',
            path: configMaps,
            body: configMap(`${kind}-${name}`),
            ignore: name === 'uid' ? ['message', 'details.causes.0.message'] : [],
          },
        ]),
      );
    }
    await withWebhooks(
      kind,
      [webhook('error', { failurePolicy: 'Ignore' }), webhook('slow', { failurePolicy: 'Ignore', timeoutSeconds: 1 })],
      () => compare([{ method: 'POST', path: configMaps, body: configMap(`${kind}-ignored`) }]),
    );
    await withWebhooks(kind, [webhook('slow', { timeoutSeconds: 1 })], () =>
      compare([{ method: 'POST', path: configMaps, body: configMap(`${kind}-slow`) }]),
    );
  }
  const nowhere = { url: 'https://127.0.0.1:1/x', caBundle: hook.caBundle };
  await withWebhooks('validating', [webhook('nowhere', { clientConfig: nowhere })], () =>
    compare([{ method: 'POST', path: configMaps, body: configMap('nowhere') }]),
  );
  const service = { service: { namespace: 'default', name: 'nobody', path: '/x' }, caBundle: hook.caBundle };
  await withWebhooks('validating', [webhook('service', { clientConfig: service })], () =>
    compare([{ method: 'POST', path: configMaps, body: configMap('service') }]),
  );
  const untrusted = { url: hook.clientConfig('/allow').url };
  await withWebhooks('validating', [webhook('untrusted', { clientConfig: untrusted })], () =>
    compare([{ method: 'POST', path: configMaps, body: configMap('untrusted') }]),
  );
});

test('rules, selectors, conditions and versions choose alike', async () => {
  const condition = (expression: string, rest: object = {}): object => ({
    matchConditions: [{ name: 'c', expression }],
    ...rest,
  });
  await both('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: name === 'v1',
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { replicas: { type: 'integer' }, size: { type: 'integer', default: 3 } },
              },
            },
          },
        },
      })),
    },
  });
  const widgets = '/apis/example.com/v1/namespaces/default/widgets';
  for (let attempt = 0; (await real.request('GET', widgets)).status !== 200; attempt++) {
    assert.ok(attempt < 200);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await withWebhooks(
    'validating',
    [
      webhook('allow', {
        name: 'a.b.fails',
        ...condition('object.data.none == "x"', { rules: [rule('configmaps', { operations: ['UPDATE'] })] }),
      }),
      webhook('allow', { name: 'a.b.ignored', ...condition('object.data.none == "x"', { failurePolicy: 'Ignore' }) }),
      webhook('allow', { name: 'a.b.yes', ...condition('object.metadata.name.startsWith("y") && oldObject == null') }),
      webhook('allow', {
        name: 'a.b.may',
        ...condition('authorizer.group("").resource("configmaps").namespace("default").check("create").allowed()'),
      }),
      webhook('allow', { name: 'a.b.v2', rules: [rule('widgets', { apiVersions: ['v2'] })] }),
      webhook('allow', { name: 'a.b.exact', matchPolicy: 'Exact', rules: [rule('widgets', { apiVersions: ['v2'] })] }),
    ],
    () =>
      withWebhooks('mutating', [webhook('replicas', { rules: [rule('widgets', { apiVersions: ['v2'] })] })], () =>
        compare([
          { method: 'POST', path: configMaps, body: configMap('yes') },
          { method: 'POST', path: configMaps, body: configMap('no') },
          { method: 'PATCH', path: `${configMaps}/no`, body: { data: { x: '1' } }, contentType: merge },
          {
            method: 'POST',
            path: widgets,
            body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: {} },
          },
          { method: 'PATCH', path: `${widgets}/w`, body: { spec: { replicas: 1 } }, contentType: merge },
        ]),
      ),
  );
});
