/**
 * Expressions of a tenant: rules of custom resources, policies, match conditions. Kubernetes prices some of their calls at zero, and the
 * others by their input, not by their work. Each attack ends within the budget of its request, and no slice of synchronous work is longer
 * than 50 ms: that is how long a neighbour may wait.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { cpuTime } from '@hangar/core/testing';
import { startInProcess } from '../../packages/server/src/testing/in-process.ts';
import type { InProcessAnswer, InProcessServer } from '../../packages/server/src/testing/in-process.ts';
import { slicesOf } from './testing/slices.ts';

const sliceMsMax = 50;
/** All expressions of a request may take 500 ms, compiling them 2 s; the rest is the request itself. */
const requestMsMax = 4_000;

let server: InProcessServer;
before(async () => {
  server = await startInProcess();
});
after(() => server[Symbol.asyncDispose]());

const registration = '/apis/admissionregistration.k8s.io/v1';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const namespaced = '/apis/example.com/v1/namespaces/default';
const configMaps = '/api/v1/namespaces/default/configmaps';
const interrupted = /operation interrupted|cost limit exceeded|running out of cost budget|longer than \d+ characters/;

const send = (method: string, path: string, body?: object): Promise<InProcessAnswer> =>
  server.request(method, path, body === undefined ? {} : { body: JSON.stringify(body) });

async function create(path: string, body: object): Promise<void> {
  const answer = await send('POST', path, body);
  assert.equal(answer.status, 201, answer.body.toString().slice(0, 500));
}

/** Returns the answer; one of three attempts must stay below the limits, since the garbage collector may run in the others. */
async function attack(t: TestContext, work: () => Promise<InProcessAnswer>): Promise<InProcessAnswer> {
  const seen: string[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    const takenMs = cpuTime();
    const { result, longestMs } = await slicesOf(work);
    const totalMs = takenMs();
    seen.push(`${result.status}, longest slice ${longestMs.toFixed(1)} ms, all ${totalMs.toFixed(0)} ms of CPU`);
    if (longestMs >= sliceMsMax || totalMs >= requestMsMax) continue;
    t.diagnostic(seen.at(-1)!);
    return result;
  }
  return assert.fail(seen.join('; '));
}

const constraints = (resource: string): object => ({
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: [resource] }],
});

function policy(kind: 'Validating' | 'Mutating', name: string, spec: object): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}AdmissionPolicy`,
    metadata: { name },
    spec: {
      matchConstraints: constraints('configmaps'),
      ...(kind === 'Mutating' ? { reinvocationPolicy: 'Never' } : {}),
      ...spec,
    },
  };
}

/** Removes the policies afterwards: each attack is isolated. */
async function withPolicies(kind: 'Validating' | 'Mutating', specs: readonly object[], act: () => Promise<void>) {
  const path = `${registration}/${kind.toLowerCase()}admissionpolicies`;
  const names = specs.map((_, at) => `attack-${at}`);
  for (const [at, name] of names.entries()) {
    await create(path, policy(kind, name, specs[at]!));
    await create(path.replace('policies', 'policybindings'), {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}AdmissionPolicyBinding`,
      metadata: { name },
      spec: { policyName: name, ...(kind === 'Validating' ? { validationActions: ['Deny'] } : {}) },
    });
  }
  // Followers receive the change in the next turns of the loop.
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  try {
    await act();
  } finally {
    for (const name of names) {
      await send('DELETE', `${path.replace('policies', 'policybindings')}/${name}`);
      await send('DELETE', `${path}/${name}`);
    }
  }
}

const words = Array.from({ length: 100_000 }, () => 'ab').join(',');
const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a' },
  data: { words, long: 'x'.repeat(500_000) },
};
const post = (): Promise<InProcessAnswer> => send('POST', `${configMaps}?dryRun=All`, configMap);
const ten = '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]';
const loops = (body: string): string => `${ten}.all(a, ${ten}.all(b, ${ten}.all(c, ${ten}.all(d, ${body}))))`;
const list = { name: 'l', expression: "object.data.words.split(',')" };

describe('policies', () => {
  for (const call of [
    "variables.l.indexOf('zz') < 0",
    "variables.l.lastIndexOf('zz') < 0",
    "variables.l.max() == 'ab'",
    "variables.l.min() == 'ab'",
    'variables.l.isSorted()',
    "object.data.long.indexOf('xxxxxxy') < 0",
    "!('zz' in variables.l)",
    "variables.l.join('').size() > 0",
    "!object.data.long.matches('(x+x+)+y')",
    'dyn(variables.l) == dyn(variables.l + [])',
    "object.data.long.split('').size() > 0",
    "object.data.long.replace('x', 'y').size() > 0",
    "timestamp('2024-01-01T00:00:00Z').getHours('Europe/Berlin') > 0",
  ]) {
    test(`calls that cost little and take long end: ${call}`, async (t) => {
      const validations = Array.from({ length: 5 }, (_, at) => ({ expression: `${loops(call)} && ${at} >= 0` }));
      await withPolicies('Validating', [{ variables: [list], validations }], async () => {
        const { status, body } = await attack(t, post);
        assert.equal(status, 422);
        assert.match(body.toString(), interrupted);
        assert.match(body.toString(), /ValidatingAdmissionPolicy 'attack-0'/);
      });
    });
  }

  test('all policies of a request share one budget', async (t) => {
    const slow = { variables: [list], validations: [{ expression: loops('variables.l.isSorted()') }] };
    const specs = Array.from({ length: 30 }, () => slow);
    await withPolicies('Validating', specs, async () => {
      const { status, body } = await attack(t, post);
      assert.equal(status, 422);
      assert.match(body.toString(), interrupted);
    });
  });

  test('messages, audit annotations and match conditions are limited, too', async (t) => {
    const slow = `${loops('variables.l.isSorted()')} ? 'a' : 'b'`;
    await withPolicies(
      'Validating',
      [
        { variables: [list], validations: [{ expression: 'false', messageExpression: slow, message: 'plain' }] },
        { variables: [list], auditAnnotations: [{ key: 'k', valueExpression: slow }] },
        {
          variables: [list],
          matchConditions: [{ name: 'c', expression: loops("object.data.words.split(',').isSorted()") }],
          validations: [{ expression: 'true' }],
        },
      ],
      async () => assert.equal((await attack(t, post)).status, 422),
    );
  });

  test('a mutation whose value shares its parts without end is refused', async (t) => {
    const variables = [
      { name: 'v0', expression: "['x', 'x']" },
      ...Array.from({ length: 40 }, (_, at) => ({
        name: `v${at + 1}`,
        expression: `[variables.v${at}, variables.v${at}]`,
      })),
    ];
    const expression = "[JSONPatch{op: 'add', path: '/data/x', value: variables.v40}]";
    const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression } }];
    await withPolicies('Mutating', [{ variables, mutations }], async () => {
      const { status, body } = await attack(t, post);
      assert.equal(status, 403);
      assert.match(body.toString(), interrupted);
    });
  });

  test('policies of expressions that take long to compile are checked in slices', async (t) => {
    const expression = `${'object.a == 1 || '.repeat(120)}object.b == [${'object.a.b.c.d, '.repeat(4_000)}1]`;
    const variables = Array.from({ length: 30 }, (_, at) => ({ name: `v${at}`, expression }));
    const body = policy('Validating', 'long', { variables, validations: [{ expression: 'true' }] });
    const { status } = await attack(t, () =>
      send('POST', `${registration}/validatingadmissionpolicies?dryRun=All`, body),
    );
    assert.ok(status === 201 || status === 422, `${status}`);
  });

  test('a type that doubles with every step is refused', async (t) => {
    const steps = Array.from({ length: 40 }, (_, at) => `.map(a${at}, {a${at}: a${at}})`).join('');
    const body = policy('Validating', 'types', { validations: [{ expression: `[1]${steps}.size() > 0` }] });
    const { status, body: text } = await attack(t, () =>
      send('POST', `${registration}/validatingadmissionpolicies`, body),
    );
    assert.equal(status, 422);
    assert.match(text.toString(), interrupted);
  });
});

describe('match conditions of webhooks', () => {
  test('those of all webhooks share one budget', async (t) => {
    const slow = `object.data.words.split(',').filter(x, ${loops("object.data.long.indexOf('xxy') < 0")}).size() > 0`;
    const matchConditions = Array.from({ length: 30 }, (_, at) => ({ name: `c${at}`, expression: slow }));
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
    const webhooks = Array.from({ length: 9 }, (_, at) => ({
      name: `w${at}.example.com`,
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      matchConditions,
    }));
    const path = `${registration}/validatingwebhookconfigurations`;
    await create(path, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'slow' },
      webhooks,
    });
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    const { status, body } = await attack(t, post);
    await send('DELETE', `${path}/slow`);
    assert.equal(status, 403);
    assert.match(body.toString(), interrupted);
  });
});

describe('rules of custom resources', () => {
  function definition(plural: string, spec: object): object {
    const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', ...spec } } };
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural, kind: plural[0]!.toUpperCase() + plural.slice(1, -1) },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    };
  }
  const texts = { type: 'array', maxItems: 100_000, items: { type: 'string', maxLength: 2 } };

  test('calls that cost nothing end, those of all rules together', async (t) => {
    const rules = ["self.list.indexOf('zz') < 0", 'self.list.isSorted()', "self.list.max() == 'ab'"].flatMap((call) =>
      Array.from({ length: 10 }, (_, at) => ({ rule: `${ten}.all(x, ${call}) && ${at} >= 0` })),
    );
    const body = definition('frees', { properties: { list: texts }, 'x-kubernetes-validations': rules });
    await create(definitions, body);
    const object = {
      apiVersion: 'example.com/v1',
      kind: 'Free',
      metadata: { name: 'a' },
      spec: { list: words.split(',').slice(0, 30_000) },
    };
    const answer = await attack(t, () => send('POST', `${namespaced}/frees?dryRun=All`, object));
    assert.equal(answer.status, 422);
    assert.match(answer.body.toString(), interrupted);
  });

  test('a definition of thousands of rules is checked in slices', async (t) => {
    const rules = Array.from({ length: 3_000 }, (_, at) => ({
      rule: `self.list.size() >= 0 && self.list.size() != -${at + 1}`,
    }));
    const body = definition('manies', { properties: { list: texts }, 'x-kubernetes-validations': rules });
    const { status } = await attack(t, () => send('POST', `${definitions}?dryRun=All`, body));
    assert.ok(status === 201 || status === 422, `${status}`);
  });
});
