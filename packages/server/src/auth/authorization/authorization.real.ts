/** Compares the default policy, decisions, reasons and denials with a real kube-apiserver with RBAC. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { startRealServer } from '@hangar/api/testing';
import type { RealServer } from '@hangar/api/testing';
import { compareServers } from '../../testing/both-servers.ts';
import type { Step } from '../../testing/both-servers.ts';
import { startInProcess } from '../../testing/in-process.ts';
import type { InProcessServer } from '../../testing/in-process.ts';
import { authorizersOf, superusers } from './modes.ts';
import { escalationObjects, escalationSteps, escalationUsers } from './testing/escalation-steps.ts';
import { nodeObjects, nodeQuestions } from './testing/node-questions.ts';
import { randomPolicy } from './testing/random-policy.ts';

type Json = ReturnType<typeof JSON.parse>;

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const kinds = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'];
const patienceMs = 20_000;
const users = [...escalationUsers, { token: 'n1-token', user: 'system:node:n1', groups: ['system:nodes'] }];

let real: RealServer;
let hangar: InProcessServer;

before(async () => {
  real = await startRealServer(['--authorization-mode=Node,RBAC'], users);
  hangar = await startInProcess({
    tokens: users,
    authorizers: (plane) => [superusers, ...authorizersOf(plane, ['Node', 'RBAC'])],
  });
});
after(async () => {
  await real?.[Symbol.asyncDispose]();
  await hangar?.[Symbol.asyncDispose]();
});

type Server = Pick<RealServer, 'request'> | Pick<InProcessServer, 'request'>;

async function ask(server: Server, method: string, path: string, body?: object): Promise<Json> {
  const answer = await server.request(method, path, body === undefined ? {} : { body: JSON.stringify(body) });
  return JSON.parse(answer.body.toString());
}

async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await check())) {
    assert.ok(Date.now() < deadline, `in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('the default policy is the same, object by object', async () => {
  const all = async (server: Server, kind: string): Promise<Json[]> => {
    const { items } = await ask(server, 'GET', `${rbac}/${kind}`);
    return items
      .map(({ metadata: { name, namespace, labels, annotations }, rules, ...rest }: Json) => ({
        ...rest,
        metadata: { name, namespace, labels, annotations },
        // Without kube-controller-manager no aggregation happens there.
        ...(rest.aggregationRule ? {} : { rules }),
      }))
      .sort((a: Json, b: Json) => (JSON.stringify(a.metadata) < JSON.stringify(b.metadata) ? -1 : 1));
  };
  await until('the policy was created', async () => (await all(real, 'rolebindings')).length === 7);
  for (const kind of kinds) assert.deepEqual(await all(hangar, kind), await all(real, kind), kind);
});

describe('decisions', () => {
  test('are the same for generated policies and questions', async () => {
    for (let seed = 1; seed <= 6; seed++) {
      const { objects, questions } = randomPolicy(seed, 80);
      for (const server of [real, hangar]) {
        for (const { path, object } of objects) await server.request('POST', path, { body: JSON.stringify(object) });
      }
      // The marker is written last: when a server has observed it, it has observed everything.
      const marker = { user: `marker-${seed}`, resourceAttributes: { verb: 'get', resource: 'markers' } };
      await Promise.all([real, hangar].map((server) => mark(server, seed)));
      for (const server of [real, hangar])
        await until('the policy is followed', async () => (await decision(server, marker)).allowed);
      for (const question of questions) {
        const [theirs, ours] = await Promise.all([decision(real, question), decision(hangar, question)]);
        assert.deepEqual(comparable(ours), comparable(theirs), `seed ${seed}: ${JSON.stringify(question)}`);
      }
      for (const server of [real, hangar]) {
        for (const { path, object } of objects) {
          await server.request('DELETE', `${path}/${(object as Json).metadata.name}`);
        }
      }
    }
  });
});

test('what a node may do is the same, with the same reasons', async () => {
  for (const server of [real, hangar]) {
    for (const { path, object } of nodeObjects) {
      const { status, body } = await server.request('POST', path, { body: JSON.stringify(object) });
      assert.equal(status, 201, `${path}: ${body.toString()}`);
    }
  }
  const differences: object[] = [];
  const differ = async (): Promise<object[]> => {
    const found: object[] = [];
    for (const question of nodeQuestions) {
      const [theirs, ours] = await Promise.all([decision(real, question), decision(hangar, question)]);
      if (!isDeepStrictEqual(theirs, ours)) found.push({ question, theirs, ours });
    }
    return found;
  };
  // The graph of the real server lags behind writes.
  await until('they agree', async () => {
    differences.splice(0, Infinity, ...(await differ()));
    return differences.length === 0;
  }).catch(() => assert.deepEqual(differences, []));
  const allowed = await Promise.all(nodeQuestions.map(async (one) => (await decision(hangar, one)).allowed));
  assert.ok(allowed.filter(Boolean).length >= 25 && allowed.filter((one) => !one).length >= 25, 'both are asked about');
});

async function mark(server: Server, seed: number): Promise<void> {
  const name = `marker-${seed}`;
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['markers'] }];
  await ask(server, 'POST', `${rbac}/clusterroles`, { metadata: { name }, rules });
  await ask(server, 'POST', `${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }],
  });
}

const decision = async (server: Server, spec: object): Promise<Json> =>
  (await ask(server, 'POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })).status;

/** kube-apiserver evaluates bindings in random order: which allowing binding, or which missing role, it names is random. */
const comparable = ({ allowed, reason = '', ...rest }: Json): object => ({
  ...rest,
  allowed,
  reason: allowed
    ? /^RBAC: allowed by (?:Cluster)?RoleBinding "/.test(reason)
    : reason
        .replaceAll(/[[\]]|RBAC: /g, '')
        .split(', ')
        .sort(),
});

describe('escalation', () => {
  test('is refused in the same words', async () => {
    for (const server of [real, hangar]) {
      for (const { path, object } of escalationObjects) {
        const { status, body } = await server.request('POST', path, { body: JSON.stringify(object) });
        assert.equal(status, 201, body.toString());
      }
    }
    for (const server of [real, hangar]) {
      await until('the policy is followed', async () => {
        const spec = { user: 'last', resourceAttributes: { verb: 'get', resource: 'markers' } };
        return (await decision(server, spec)).allowed;
      });
    }
    assert.deepEqual(await compareServers(real, hangar, escalationSteps), []);
  });
});

test('refusals of requests are the same', async () => {
  const binding = {
    metadata: { name: 'to-nothing' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'absent' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'reader' }],
  };
  for (const server of [real, hangar]) {
    await ask(server, 'POST', `${rbac}/namespaces/kube-public/rolebindings`, binding);
    await until('the missing role is missed', async () => {
      const spec = { user: 'reader', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'kube-public' } };
      return (await decision(server, spec)).reason !== undefined;
    });
  }
  const as = (user: string, method: string, path: string): Step => ({ method, path, token: `${user}-token` });
  const refused = [
    as('reader', 'GET', '/api/v1/nodes'),
    as('reader', 'GET', '/api/v1/namespaces/kube-public/configmaps'),
    as('reader', 'GET', '/api/v1/namespaces/kube-public/configmaps?fieldSelector=metadata.name%3Da'),
    as('reader', 'GET', '/api/v1/namespaces/kube-public/configmaps?fieldSelector=metadata.name%3Da%2Fb'),
    as('reader', 'GET', '/api/v1/namespaces/x/pods/a/log'),
    as('reader', 'DELETE', '/apis/apps/v1/namespaces/x/deployments?fieldSelector=metadata.name%3Da'),
    as('reader', 'GET', '/apis/example.com/v1/things?watch=true'),
    as('reader', 'GET', '/logs'),
    as('reader', 'POST', '/version'),
    as('n1', 'GET', '/api/v1/namespaces/default/secrets/other'),
    as('n1', 'GET', '/api/v1/pods'),
    as('n1', 'GET', '/api/v1/nodes/n2'),
  ];
  assert.deepEqual(await compareServers(real, hangar, refused), []);
});

test('the rules that users are told are the same', async () => {
  const rules = async (server: Server, token: string | undefined): Promise<object> => {
    const body = JSON.stringify({ spec: { namespace: 'kube-public' } });
    const options = { body, ...(token === undefined ? {} : { token }) };
    const answer = await server.request('POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', options);
    const { status } = JSON.parse(answer.body.toString());
    const sorted = (list: Json[]): string[] => list.map((one) => JSON.stringify(one)).sort();
    return {
      ...status,
      resourceRules: sorted(status.resourceRules),
      nonResourceRules: sorted(status.nonResourceRules),
    };
  };
  for (const token of [undefined, 'reader-token', 'writer-token', 'n1-token']) {
    assert.deepEqual(await rules(hangar, token), await rules(real, token), String(token));
  }
});
