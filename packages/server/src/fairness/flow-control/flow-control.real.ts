/** Compares the flow schemas and priority levels of requests, and rejections, with a real kube-apiserver. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '@hangar/core';
import { startRealServer } from '@hangar/api/testing';
import type { RealServer } from '@hangar/api/testing';
import type { InProcessServer } from '../../testing/in-process.ts';
import { startInProcess } from '../../testing/in-process.ts';
import { FairQueue } from '../fair-queue.ts';
import { TenantFairness } from '../tenant-fairness.ts';

const group = '/apis/flowcontrol.apiserver.k8s.io/v1';
const allowAll = { name: 'allow all', authorize: () => 'allow' as const };

const users = [
  { token: 'jane', user: 'jane', groups: ['dev'] },
  { token: 'joe', user: 'joe', groups: [] },
  { token: 'blocked', user: 'blocked', groups: [] },
  { token: 'node', user: 'system:node:one', groups: ['system:nodes'] },
  { token: 'manager', user: 'system:kube-controller-manager', groups: [] },
  { token: 'scheduler', user: 'system:kube-scheduler', groups: [] },
  { token: 'account', user: 'system:serviceaccount:default:robot', groups: ['system:serviceaccounts'] },
  {
    token: 'system-account',
    user: 'system:serviceaccount:kube-system:endpoint-controller',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system'],
  },
];

const leases = '/apis/coordination.k8s.io/v1/namespaces';
const requests: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/api/v1/namespaces/default/pods'],
  ['GET', '/api/v1/pods'],
  ['GET', '/api/v1/namespaces/default'],
  ['GET', '/api/v1/namespaces/default/configmaps/none'],
  ['GET', '/api/v1/nodes/one'],
  ['GET', '/api/v1/nodes/one/status'],
  ['PATCH', '/api/v1/nodes/one/status'],
  ['GET', `${leases}/kube-system/leases/none`],
  ['GET', `${leases}/kube-node-lease/leases/none`],
  ['PUT', `${leases}/default/leases/none`],
  ['GET', '/apis/apps/v1/namespaces/team/deployments'],
  ['GET', '/api/v1/namespaces/kube-system/endpoints/none'],
  ['GET', '/healthz'],
  ['GET', '/livez'],
  ['GET', '/version'],
  ['GET', '/openapi/v3'],
  ['GET', '/nowhere'],
];

const rule = (subjects: object[], rest: object) => ({ subjects, ...rest });
const person = (name: string) => ({ kind: 'User', user: { name } });
const resource = (rest: object) => ({
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true, ...rest }],
});
const schema = (name: string, level: string, precedence: number, rules: object[]) => ({
  kind: 'FlowSchema',
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  metadata: { name },
  spec: { priorityLevelConfiguration: { name: level }, matchingPrecedence: precedence, rules },
});

const everything = { nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }], ...resource({}) };
const closed = {
  kind: 'PriorityLevelConfiguration',
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  metadata: { name: 'closed' },
  spec: {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
  },
};
const ownSchemas = [
  schema('blocked', 'closed', 700, [rule([person('blocked')], everything)]),
  schema('a-dev', 'workload-high', 2_000, [
    rule([{ kind: 'Group', group: { name: 'dev' } }], resource({ namespaces: ['team'], clusterScope: false })),
    rule([person('joe')], resource({ resources: ['nodes/status'] })),
  ]),
  schema('b-dev', 'workload-low', 2_000, [
    rule([{ kind: 'Group', group: { name: 'dev' } }], resource({ verbs: ['list'] })),
  ]),
  schema('dangling', 'no-such-level', 800, [rule([person('jane')], everything)]),
  schema('paths', 'system', 900, [
    rule([person('*')], { nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/openapi/*', '/nowhere'] }] }),
  ]),
];

let real: RealServer;
let hangar: InProcessServer;
let fairness: TenantFairness;

before(async () => {
  real = await startRealServer(['--authorization-mode=AlwaysAllow'], users);
  hangar = await startInProcess({
    tokens: users,
    authorizers: [allowAll as never],
    fairness: (plane) => (fairness = new TenantFairness({ queue: new FairQueue({ clock: systemClock }), plane })),
  });
});
after(async () => {
  fairness?.close();
  await real?.[Symbol.asyncDispose]();
  await hangar?.[Symbol.asyncDispose]();
});

type Server = RealServer | InProcessServer;

async function namesByUid(server: Server): Promise<Map<string, string>> {
  const lists = await Promise.all(
    ['flowschemas', 'prioritylevelconfigurations'].map((name) => server.request('GET', `${group}/${name}`)),
  );
  const items = lists.flatMap(
    ({ body }) => JSON.parse(body.toString()).items as { metadata: Record<string, string> }[],
  );
  return new Map(items.map(({ metadata }) => [metadata['uid']!, metadata['name']!]));
}

async function classification(server: Server): Promise<string[]> {
  const names = await namesByUid(server);
  const lines: string[] = [];
  for (const { token } of [{ token: undefined }, ...users]) {
    for (const [method, path] of requests) {
      const sent = method === 'GET' ? {} : { body: '{}', contentType: 'application/merge-patch+json' };
      const { headers } = await server.request(method, path, { ...sent, ...(token === undefined ? {} : { token }) });
      const said = ['flowschema', 'prioritylevel'].map((what) => {
        const uid = headers[`x-kubernetes-pf-${what}-uid`] as string;
        return names.get(uid) ?? `unknown ${uid}`;
      });
      lines.push(`${token ?? 'administrator'} ${method} ${path}: ${said.join(' ')}`);
    }
  }
  return lines;
}

/** Both servers observe changes with a short delay. */
async function settled(check: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail('in vain');
}

/** Waits until the server classifies a request of Joe for this path by the schema. */
async function followed(server: Server, path: string, schemaName: string): Promise<void> {
  await settled(async () => {
    const names = await namesByUid(server);
    const { headers } = await server.request('GET', path, { token: 'joe' });
    return names.get(headers['x-kubernetes-pf-flowschema-uid'] as string) === schemaName;
  });
}

type Answer = Awaited<ReturnType<InProcessServer['request']>>;

/** The level has one seat: of many concurrent requests some are rejected, unless they happen to run one after the other. */
async function refused(server: Server): Promise<Answer> {
  let found: Answer | undefined;
  await settled(async () => {
    const asked = Array.from({ length: 40 }, () => server.request('GET', '/api/v1/pods', { token: 'blocked' }));
    found = (await Promise.all(asked as Promise<Answer>[])).find(({ status }) => status === 429);
    return found !== undefined;
  });
  return found!;
}

test('every user and request belongs where a real kube-apiserver says, with the default objects', async () => {
  for (const server of [real, hangar]) await followed(server, '/nowhere', 'global-default');
  assert.deepEqual(await classification(hangar), await classification(real));
});

test('and with others, after they were written', async () => {
  for (const server of [real, hangar]) {
    for (const [path, objects] of [
      ['prioritylevelconfigurations', [closed]],
      ['flowschemas', ownSchemas],
    ] as const) {
      for (const object of objects) {
        const { status, body } = await server.request('POST', `${group}/${path}`, { body: JSON.stringify(object) });
        assert.equal(status, 201, body.toString());
      }
    }
    // The schema that was written last.
    await followed(server, '/nowhere', 'paths');
    await refused(server);
  }
  assert.deepEqual(await classification(hangar), await classification(real));
});

test('who is refused is told so in the same words, and when to come again', async () => {
  const [theirs, ours] = [await refused(real), await refused(hangar)];
  // The value of kube-apiserver grows with the number of rejections.
  assert.match(String(theirs.headers['retry-after']), /^[1-9]\d*$/);
  assert.equal(ours.headers['retry-after'], '1');
  // kube-apiserver sends plain text; Hangar sends the same message in a Status with a reason.
  assert.equal(theirs.body.toString(), 'Too many requests, please try again later.\n');
  assert.deepEqual(JSON.parse(ours.body.toString()), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: theirs.body.toString().trim(),
    reason: 'TooManyRequests',
    details: { retryAfterSeconds: 1 },
    code: 429,
  });
});
