import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { TestServer } from '../../../testing/test-server.ts';
import type { User } from '../../user.ts';
import { ScriptedWebhook } from '../testing/scripted-webhook.ts';
import { Authorization } from './authorization.ts';
import { ConfigurationError, readConfiguration } from './configuration.ts';

const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} });
const reading = {
  isResource: true,
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  namespace: 'default',
  name: 'a',
  subresource: '',
  rest: '',
} as const;
const masters = user('root', 'system:masters');

const configuration = (...authorizers: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers });

let folder: string;
let scripted: ScriptedWebhook;
let server: TestServer;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hangar-authorization-'));
  scripted = await ScriptedWebhook.start();
  server = await TestServer.start();
  await writeFile(join(folder, 'kubeconfig'), scripted.kubeconfig);
});
after(async () => {
  await scripted?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const webhook = (rest: object = {}, name = 'hook'): object => ({
  type: 'Webhook',
  name,
  webhook: {
    timeout: '2s',
    subjectAccessReviewVersion: 'v1',
    failurePolicy: 'Deny',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: join(folder, 'kubeconfig') },
    ...rest,
  },
});

async function open(text: string, onError: (error: Error) => void = () => {}): Promise<Authorization & Disposable> {
  const file = join(folder, `${Math.random()}.yaml`);
  await writeFile(file, text);
  const opened = await Authorization.open(server.plane, { source: { file }, onError, intervalMs: 10 });
  return Object.assign(opened, { file, [Symbol.dispose]: () => opened.close() });
}

describe('a webhook', () => {
  test('decides, with its reason, and is asked once for the time that its answers are kept', async () => {
    using authorization = await open(configuration(webhook()));
    scripted.answer({ allowed: true, reason: 'because' });
    const count = scripted.asked.length;
    assert.deepEqual(await authorization.authorize(user('jane', 'a'), reading), {
      decision: 'allow',
      reason: 'because',
    });
    assert.deepEqual(await authorization.authorize(user('jane', 'a'), reading), {
      decision: 'allow',
      reason: 'because',
    });
    assert.equal(scripted.asked.length, count + 1);
    assert.deepEqual(scripted.asked.at(-1), {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {
        resourceAttributes: { namespace: 'default', verb: 'get', version: 'v1', resource: 'pods', name: 'a' },
        user: 'jane',
        groups: ['a'],
      },
      status: { allowed: false },
    });
    scripted.answer({ allowed: false, denied: true, reason: 'never' });
    assert.deepEqual(await authorization.authorize(user('joe'), reading), { decision: 'deny', reason: 'never' });
    scripted.answer({ allowed: 'true' });
    assert.equal((await authorization.authorize(user('jim'), reading)).decision, 'no opinion');
    scripted.answer({ allowed: true, denied: true });
    assert.equal((await authorization.authorize(user('jill'), reading)).decision, 'deny');
  });

  test('is never asked about administrators', async () => {
    using authorization = await open(configuration(webhook()));
    scripted.answer({ allowed: false, denied: true });
    assert.equal((await authorization.authorize(masters, reading)).decision, 'allow');
  });

  test('of the older version is told groups under their older name', async () => {
    using authorization = await open(configuration(webhook({ subjectAccessReviewVersion: 'v1beta1' })));
    scripted.answer({ allowed: true });
    await authorization.authorize(user('older', 'a'), { isResource: false, verb: 'get', path: '/x' });
    assert.deepEqual(scripted.asked.at(-1)!['spec'], {
      nonResourceAttributes: { path: '/x', verb: 'get' },
      user: 'older',
      group: ['a'],
    });
  });

  test('that does not answer refuses, or has no opinion, as its failure policy says', async () => {
    using denying = await open(configuration(webhook()));
    scripted.status = 404;
    const denied = await denying.authorize(user('jane'), reading);
    assert.equal(denied.decision, 'deny');
    assert.ok(denied.error);
    using open2 = await open(
      configuration(webhook({ failurePolicy: 'NoOpinion' }), { type: 'AlwaysAllow', name: 'all' }),
    );
    assert.equal((await open2.authorize(user('jane'), reading)).decision, 'allow');
    scripted.status = 200;
  });

  test('is asked about what its conditions match', async () => {
    const conditions = [
      { expression: 'has(request.resourceAttributes)' },
      { expression: "request.resourceAttributes.namespace != 'kube-system'" },
      { expression: "!('system:nodes' in request.groups)" },
    ];
    using authorization = await open(
      configuration(webhook({ matchConditions: conditions, matchConditionSubjectAccessReviewVersion: 'v1' })),
    );
    scripted.answer({ allowed: true });
    const decide = async (who: User, info: Parameters<Authorization['authorize']>[1]): Promise<string> =>
      (await authorization.authorize(who, info)).decision;
    assert.equal(await decide(user('jane'), reading), 'allow');
    assert.equal(await decide(user('jane'), { ...reading, namespace: 'kube-system' }), 'no opinion');
    assert.equal(await decide(user('node', 'system:nodes'), reading), 'no opinion');
    assert.equal(await decide(user('jane'), { isResource: false, verb: 'get', path: '/x' }), 'no opinion');
  });

  test('whose condition fails fails itself', async () => {
    const conditions = [{ expression: "request.extra['absent'][0] == 'x'" }];
    using authorization = await open(
      configuration(webhook({ matchConditions: conditions, matchConditionSubjectAccessReviewVersion: 'v1' })),
    );
    const { decision, error } = await authorization.authorize(user('jane'), reading);
    assert.equal(decision, 'deny');
    assert.match(error!.message, /^cel evaluation error: expression 'request\.extra.*no such key: absent/);
  });
});

test('a changed file is used, and one that cannot be used is not', async () => {
  const problems: Error[] = [];
  using authorization = await open(configuration({ type: 'AlwaysAllow', name: 'all' }), (error) =>
    problems.push(error),
  );
  const { file } = authorization as unknown as { file: string };
  assert.equal((await authorization.authorize(user('jane'), reading)).decision, 'allow');
  await writeFile(file, configuration({ type: 'Nonsense', name: 'all' }));
  await server.until('it is told', () => Promise.resolve(problems.length > 0));
  assert.match(problems[0]!.message, /authorizers\[0\]\.type: Unsupported value: "Nonsense"/);
  assert.equal((await authorization.authorize(user('jane'), reading)).decision, 'allow');
  await writeFile(file, configuration({ type: 'RBAC', name: 'rbac' }));
  await server.until(
    'it is used',
    async () => (await authorization.authorize(user('jane'), reading)).decision !== 'allow',
  );
  assert.equal((await authorization.authorize(masters, reading)).decision, 'allow');
});

describe('what a webhook is being asked', () => {
  const all = { type: 'AlwaysAllow', name: 'all' };
  async function asking(hold: Promise<void>) {
    const authorization = await open(configuration(webhook({ failurePolicy: 'NoOpinion', timeout: '30s' }), all));
    scripted.answer({ denied: true });
    scripted.ready = hold;
    const count = scripted.asked.length;
    const answer = authorization.authorize(user('jane'), reading);
    await server.until('it is asked', () => Promise.resolve(scripted.asked.length > count));
    return { authorization, answer, file: (authorization as unknown as { file: string }).file };
  }

  test('is answered by it, also when it is no longer configured', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { authorization, answer, file } = await asking(promise);
    using _ = authorization;
    await writeFile(file, configuration(all));
    await server.until(
      'the new file is used',
      async () => !(await authorization.rulesFor(user('joe'), '')).isIncomplete,
    );
    resolve();
    assert.equal((await answer).decision, 'deny');
  });

  test('is refused when the server ends, whatever others would say', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { authorization, answer } = await asking(promise);
    authorization.close();
    const { decision, error } = await answer;
    assert.equal(decision, 'deny');
    assert.ok(error);
    resolve();
  });
});

test('configurations that cannot be are refused with all that is wrong with them', () => {
  const cases: [text: string, expected: RegExp][] = [
    ['', /must be an object/],
    ['{', /./],
    ['kind: Pod\napiVersion: v1', /must be an AuthorizationConfiguration/],
    [configuration(), /authorizers: Required value: at least one authorization mode must be defined/],
    [configuration({ name: 'a' }), /authorizers\[0\]\.type: Required value/],
    [
      configuration({ type: 'RBAC', name: 'a' }, { type: 'RBAC', name: 'b' }),
      /authorizers\[1\]\.type: Duplicate value: "RBAC"/,
    ],
    [
      configuration({ type: 'RBAC', name: 'A_' }),
      /authorizers\[0\]\.name: Invalid value: "A_": authorizer name is invalid/,
    ],
    [configuration({ type: 'RBAC', name: 'a', webhook: {} }), /may only be specified when type=Webhook/],
    [configuration({ type: 'RBAC', name: 'a', extra: 1 }), /authorizers\[0\]\.extra: Forbidden: unknown field/],
    [configuration({ type: 'Webhook', name: 'a' }), /required when type=Webhook/],
    [configuration(webhook({ timeout: '31s' })), /must be > 0s and <= 30s/],
    [configuration(webhook({ timeout: undefined })), /authorizers\[0\]\.timeout: Required value/],
    [configuration(webhook({ failurePolicy: 'Maybe' })), /failurePolicy: Unsupported value: "Maybe"/],
    [
      configuration(webhook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'x' } })),
      /must be an absolute path/,
    ],
    [
      configuration(webhook({ matchConditions: [{ expression: 'true' }] })),
      /required if match conditions are specified/,
    ],
    [configuration(webhook({ authorizedTTL: 'soon' })), /authorizedTTL: Invalid value/],
    [configuration(webhook(), webhook()), /authorizers\[1\]\.name: Duplicate value: "hook"/],
  ];
  for (const [text, expected] of cases) {
    assert.throws(
      () => readConfiguration(Buffer.from(text)),
      (error: Error) => {
        assert.ok(error instanceof ConfigurationError, String(error));
        assert.match(error.message, expected);
        return true;
      },
    );
  }
});

test('conditions that do not compile are refused when they are read', async () => {
  for (const expression of ['request.nothing', '1 + 1', 'request.user ==']) {
    const text = configuration(
      webhook({ matchConditions: [{ expression }], matchConditionSubjectAccessReviewVersion: 'v1' }),
    );
    await assert.rejects(open(text), ConfigurationError, expression);
  }
});
