import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@hangar/api';
import type { Authorizer } from '../../auth/authorize.ts';
import { Guard } from '../../auth/guard.ts';
import { configMap, configMaps, TestServer } from '../../testing/test-server.ts';
import { MutationRounds } from '../admission.ts';
import type { AdmissionRequest } from '../admission.ts';
import { mutatingAdmissionPolicy } from './mutating/index.ts';
import {
  applyConfiguration,
  bindingObject,
  followed,
  inForce,
  jsonPatch,
  policies,
  policyObject,
} from './testing/policy-server.ts';
import { validatingAdmissionPolicy } from './validating/index.ts';

const never = { validations: [{ expression: 'false', message: 'never' }] };

const refused = async (server: TestServer, data: Record<string, string> = {}, token = 'admin'): Promise<string> =>
  (await server.expect(422, 'POST', configMaps, { body: configMap('a', data), token })).message;

/** A request as verbs create it, which records its annotations. */
function requestFor({ plane }: TestServer, object: object): AdmissionRequest & { readonly notes: Map<string, string> } {
  const notes = new Map<string, string>();
  return {
    plane,
    operation: 'CREATE',
    verb: 'create',
    resource: plane.catalogue.find({ group: '', version: 'v1', resource: 'configmaps' })!,
    subresource: '',
    namespace: 'default',
    name: 'a',
    object: object as KubeObject,
    old: undefined,
    user: { name: 'jane', uid: '', groups: [], extra: {} },
    guard: new Guard({ authenticators: [], authorizers: [] }),
    isDryRun: false,
    options: undefined,
    deadlineMs: Infinity,
    attemptOf: {},
    warn: () => {},
    annotate: (key, value) => void (notes.has(key) || notes.set(key, value)),
    notes,
  };
}

describe('without policies', () => {
  test('a write is let through at once, and nothing is waited for', async () => {
    await using server = await TestServer.start();
    const [validating, mutating] = [validatingAdmissionPolicy(server.plane), mutatingAdmissionPolicy(server.plane)];
    const request = requestFor(server, configMap('a'));
    await validating.validate!(request);
    await mutating.mutate!(request, new MutationRounds());
    assert.equal(validating.validate!(request), undefined);
    assert.equal(mutating.mutate!(request, new MutationRounds()), undefined);
    validating.close!();
    mutating.close!();
  });

  test('a write waits for those that may be there, and is refused when they cannot be read', async () => {
    await using server = await TestServer.start();
    const plane = { ...server.plane, store: failingStore(server.plane.store) };
    const plugin = validatingAdmissionPolicy(plane);
    await assert.rejects(async () => plugin.validate!(requestFor(server, configMap('a'))), /the disk is gone/);
    plugin.close!();
  });
});

const failingStore = (store: TestServer['store']): TestServer['store'] =>
  new Proxy(store, {
    get: (target, name) =>
      name === 'range'
        ? () => Promise.reject(new Error('the disk is gone'))
        : (Reflect.get(target, name) as (() => void) | undefined)?.bind(target),
  });

describe('policies that validate', () => {
  test('hold from when they are bound until they are not, and as they are written', async () => {
    await using server = await TestServer.start();
    await server.create(policies('Validating'), policyObject('Validating', 'p', never));
    await followed(server);
    await server.create(configMaps, configMap('before'));
    const bindings = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
    await server.create(bindings, bindingObject('Validating', 'p'));
    await followed(server);
    const text = `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: never`;
    assert.equal(await refused(server), text);
    await server.merge(`${policies('Validating')}/p`, {
      spec: { validations: [{ expression: 'false', message: 'changed' }] },
    });
    await followed(server);
    assert.match(await refused(server), /changed$/);
    await server.remove(`${bindings}/p-binding`);
    await followed(server);
    await server.create(configMaps, configMap('a'));
  });

  test('are told no name of what is deleted with its collection', async () => {
    await using server = await TestServer.start();
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] };
    await inForce(server, 'Validating', 'p', {
      policy: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: 'has(request.name)', message: 'nameless' }],
      },
    });
    await server.create(configMaps, configMap('a'));
    const { message } = await server.expect(422, 'DELETE', configMaps);
    assert.match(message, /^configmaps "Unknown" is forbidden: .* nameless$/);
    await server.remove(`${configMaps}/a`);
  });

  test('note failures and annotations for the audit log', async () => {
    await using server = await TestServer.start();
    await inForce(server, 'Validating', 'p', {
      policy: {
        ...never,
        auditAnnotations: [
          { key: 'size', valueExpression: 'string(object.data.size())' },
          { key: 'long', valueExpression: "object.data.map(k, 'ü'.replace('', 'ü', -1)).join('') + object.data.a" },
        ],
      },
      binding: { validationActions: ['Audit'] },
    });
    const plugin = validatingAdmissionPolicy(server.plane);
    const request = requestFor(server, configMap('a', { a: 'ü'.repeat(6_000) }));
    await plugin.validate!(request);
    plugin.close!();
    assert.equal(request.notes.get('p/size'), '1');
    assert.ok(Buffer.byteLength(request.notes.get('p/long')!) <= 10 * 1024);
    assert.ok(!request.notes.get('p/long')!.includes('\ufffd'));
    assert.deepEqual(JSON.parse(request.notes.get('validation.policy.admission.k8s.io/validation_failure')!), [
      { message: 'never', policy: 'p', binding: 'p-binding', expressionIndex: 0, validationActions: ['Audit'] },
    ]);
  });

  test('ask an authorizer that takes its time, each question once', async () => {
    const asked: string[] = [];
    const slow: Authorizer = {
      authorize: async (user, info) => {
        if (!info.isResource || info.resource !== 'secrets') return 'allow';
        await new Promise((resolve) => setImmediate(resolve));
        asked.push(`${user.name} ${info.verb}`);
        return user.name === 'jane' || user.name.startsWith('system:serviceaccount') ? 'allow' : 'deny';
      },
    };
    const tokens = ['jane', 'joe'].map((user) => ({ token: user, user, groups: [] }));
    await using server = await TestServer.start({ tokens, authorizers: [slow] });
    await inForce(server, 'Validating', 'p', {
      policy: {
        variables: [{ name: 'may', expression: "authorizer.group('').resource('secrets').check('get').allowed()" }],
        validations: [
          { expression: 'variables.may', message: 'may not get' },
          {
            expression:
              "variables.may && authorizer.serviceAccount('default', 'x').group('').resource('secrets').check('list').allowed()",
          },
          { expression: "authorizer.group('').resource('secrets').check('get').allowed()" },
        ],
      },
    });
    asked.length = 0;
    await server.expect(201, 'POST', configMaps, { body: configMap('b'), token: 'jane' });
    assert.deepEqual(asked, ['jane get', 'system:serviceaccount:default:x list']);
    assert.match(await refused(server, {}, 'joe'), /denied request: may not get$/);
  });

  test('see keys of every name as data', async () => {
    await using server = await TestServer.start();
    await inForce(server, 'Validating', 'p', {
      policy: { validations: [{ expression: "!has(object.data.constructor) && !('__proto__' in object.data)" }] },
    });
    await server.expect(201, 'POST', configMaps, { body: configMap('plain', { a: 'b' }) });
    for (const data of ['{"__proto__":"x"}', '{"constructor":"x"}']) {
      const body = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":${data}}`;
      await server.expect(422, 'POST', configMaps, { body });
    }
  });
});

describe('policies that mutate', () => {
  test('see what others did before, and again what was done after them', async () => {
    await using server = await TestServer.start();
    const append = (letter: string): object =>
      jsonPatch(`[JSONPatch{op: 'add', path: '/data/seen', value: object.data.seen + '${letter}'}]`);
    await inForce(server, 'Mutating', 'a', { policy: { reinvocationPolicy: 'IfNeeded', mutations: [append('a')] } });
    await inForce(server, 'Mutating', 'b', { policy: { mutations: [append('b')] } });
    await inForce(server, 'Mutating', 'c', { policy: { reinvocationPolicy: 'IfNeeded', mutations: [append('c')] } });
    const { data } = await server.create(configMaps, configMap('a', { seen: '' }));
    assert.equal(data.seen, 'abcac');
  });

  test('change what is scaled through its scale', async () => {
    await using server = await TestServer.start();
    await inForce(server, 'Mutating', 'p', {
      policy: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments/scale'] },
          ],
        },
        mutations: [
          applyConfiguration(
            'Object{spec: Object.spec{replicas: object.spec.replicas > 5 ? 5 : object.spec.replicas}}',
          ),
        ],
      },
    });
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    await server.create(deployments, {
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    await server.merge(`${deployments}/d/scale`, { spec: { replicas: 3 } });
    assert.equal((await server.get(`${deployments}/d`)).spec.replicas, 3);
    await server.merge(`${deployments}/d/scale`, { spec: { replicas: 30 } });
    assert.equal((await server.get(`${deployments}/d`)).spec.replicas, 5);
  });

  test('leave prototypes alone', async () => {
    await using server = await TestServer.start();
    await inForce(server, 'Mutating', 'p', {
      policy: {
        mutations: [
          applyConfiguration("Object{data: {'__proto__': 'x', 'constructor': 'y'}}"),
          jsonPatch("[JSONPatch{op: 'add', path: '/data/hasOwnProperty', value: 'z'}]"),
        ],
      },
    });
    const { text } = await server.request('POST', configMaps, { body: configMap('a', { a: 'b' }) });
    assert.match(text, /"__proto__":"x"/);
    assert.match(text, /"constructor":"y"/);
    assert.match(text, /"hasOwnProperty":"z"/);
    assert.equal(({} as Record<string, unknown>)['x'], undefined);
  });
});

test('who names a parameter must be allowed to read it', async () => {
  const mayRead = new Set<string>();
  const rights: Authorizer = {
    authorize: (user, info) => {
      if (!info.isResource || info.group === 'admissionregistration.k8s.io' || user.name === 'admin') return 'allow';
      return mayRead.has(`${info.verb} ${info.group}/${info.resource} ${info.namespace}/${info.name}`)
        ? 'allow'
        : 'deny';
    },
  };
  await using server = await TestServer.start({
    tokens: [{ token: 'jane', user: 'jane', groups: ['devs'] }],
    authorizers: [rights],
  });
  const paramKind = { apiVersion: 'v1', kind: 'Secret' };
  const write = (status: number, path: string, body: object) =>
    server.expect(status, 'POST', path, { body, token: 'jane' });
  const bindings = (kind: string): string => `/apis/admissionregistration.k8s.io/v1/${kind}admissionpolicybindings`;
  const policy = policyObject('Validating', 'p', { ...never, paramKind });
  const { message } = await write(422, policies('Validating'), policy);
  assert.equal(
    message,
    'ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.paramKind: Forbidden: user &{jane  [devs system:authenticated] map[]} must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)',
  );
  mayRead.add('get /secrets */*');
  await write(201, policies('Validating'), policy);
  const mutations = { mutations: [applyConfiguration('Object{}')] };
  mayRead.clear();
  await write(422, policies('Mutating'), policyObject('Mutating', 'p', { ...mutations, paramKind }));
  await write(201, policies('Mutating'), policyObject('Mutating', 'p', mutations));

  const bound = (spec: object) =>
    bindingObject('Validating', 'p', { paramRef: { parameterNotFoundAction: 'Deny', ...spec } });
  const own = await write(422, bindings('validating'), bound({ name: 'x', namespace: 'default' }));
  assert.match(
    own.message,
    /spec.paramRef: Forbidden: user .* does not have "get" permission on the object referenced/,
  );
  mayRead.add('get /secrets default/x');
  await write(201, bindings('validating'), bound({ name: 'x', namespace: 'default' }));
  const listed = { ...bound({ selector: {}, namespace: 'default' }), metadata: { name: 'listed' } };
  const list = await write(422, bindings('validating'), listed);
  assert.match(list.message, /does not have "list" permission/);
  const lost = { ...bound({ name: 'x' }), metadata: { name: 'lost' } };
  const unknown = await write(422, bindings('validating'), { ...lost, spec: { ...lost.spec, policyName: 'nobody' } });
  assert.match(unknown.message, /unable to get policy nobody to determine minimum required permissions/);
  // Unchanged references are not checked again.
  mayRead.clear();
  await server.expect(200, 'PATCH', `${policies('Validating')}/p`, {
    body: { metadata: { labels: { a: 'b' } } },
    contentType: 'application/merge-patch+json',
    token: 'jane',
  });
});
