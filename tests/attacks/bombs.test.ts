/**
 * Small requests that would become large, deep or endless inside: each is refused or bounded, in CPU time that is measured
 * over the whole process, client included.
 */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Data, Received, Sent } from './testing/client.ts';
import { Victim, mine } from './testing/victim.ts';

let victim: Victim;
before(async () => {
  victim = await Victim.start();
  await victim.administrator.create(
    definitions,
    definition('things', { 'x-kubernetes-preserve-unknown-fields': true }),
  );
  await victim.administrator.create(things, { ...thing('one'), spec: { a: 'x'.repeat(1_000) } });
});
after(() => victim[Symbol.asyncDispose]());
afterEach(async () => void (await victim.tenant.get(`${mine}/configmaps/trinket`)));

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const things = '/apis/example.com/v1/namespaces/mine/things';
const thing = (name: string, kind = 'Thing') => ({ apiVersion: 'example.com/v1', kind, metadata: { name } });

function definition(plural: string, spec: object): object {
  const kind = plural[0]!.toUpperCase() + plural.slice(1, -1);
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', ...spec } } };
  return {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

/** Returns the answer, if it cost no more than this: linear work takes a tenth of it, other work takes for ever. */
async function bounded(cpuMsMax: number, asked: () => Promise<Received>): Promise<Received> {
  const before = process.cpuUsage();
  const received = await asked();
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1_000;
  assert.ok(cpuMs < cpuMsMax, `${cpuMs} ms of CPU: ${received.status} ${received.text.slice(0, 200)}`);
  return received;
}

const post = (sent: Sent, path = `${mine}/configmaps`): Promise<Received> =>
  victim.administrator.request('POST', path, sent);
const patch = (body: unknown, contentType: string, path = `${things}/one`): Promise<Received> =>
  victim.administrator.request('PATCH', path, { body: body as object, contentType });

describe('bodies', () => {
  test('a compressed body is not unpacked: it is no object, whatever the headers say', async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000, 0x20));
    const object = gzipSync(JSON.stringify({ metadata: { name: 'zipped' } }));
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip']) {
      for (const body of [bomb, object]) {
        const { status } = await bounded(1_000, () => post({ body, headers: { 'content-encoding': encoding } }));
        assert.equal(status, 400, encoding);
      }
    }
    assert.equal((await victim.tenant.request('GET', `${mine}/configmaps/zipped`)).status, 404);
  });

  test('a body beyond three megabytes is refused, by its length and by its bytes', async () => {
    const body = `{"metadata":{"name":"large"},"data":{"a":"${'x'.repeat(3 * 1024 * 1024)}"}}`;
    assert.equal((await bounded(2_000, () => post({ body }))).status, 413);
    assert.equal((await victim.administrator.request2('POST', `${mine}/configmaps`, { body })).status, 413);
    assert.equal((await victim.tenant.request('GET', `${mine}/configmaps/large`)).status, 404);
  });

  test('YAML aliases that multiply are refused', async () => {
    let body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: laughs}\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n';
    for (let at = 1; at < 30; at++)
      body += `a${at}: &a${at} [${Array(10)
        .fill(`*a${at - 1}`)
        .join(',')}]\n`;
    const { status } = await bounded(1_000, () => post({ body, contentType: 'application/yaml' }));
    assert.equal(status, 400);
    assert.equal(
      (
        await bounded(1_000, () =>
          patch(body, 'application/apply-patch+yaml', `${mine}/configmaps/laughs?fieldManager=x`),
        )
      ).status,
      400,
    );
  });

  test('a YAML node that contains itself is refused', async () => {
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: self}\ndata: &a {b: *a}\n';
    assert.equal((await bounded(1_000, () => post({ body, contentType: 'application/yaml' }))).status, 400);
  });

  for (const [what, opening, closing] of [
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ] as const) {
    test(`${what} as deep as a body has room for are refused, in JSON and in YAML`, async () => {
      const depth = 200_000;
      const deep = opening.repeat(depth) + '1' + closing.repeat(depth);
      for (const contentType of ['application/json', 'application/yaml']) {
        const body = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"deep"},"spec":${deep}}`;
        assert.equal((await bounded(4_000, () => post({ body, contentType }, things))).status, 400, contentType);
      }
      for (const contentType of ['application/merge-patch+json', 'application/json-patch+json']) {
        assert.equal((await bounded(4_000, () => patch(deep, contentType))).status, 400, contentType);
      }
    });
  }

  test('protobuf that nests without end, or says that it is larger than it is, is refused', async () => {
    const contentType = 'application/vnd.kubernetes.protobuf';
    const magic = Buffer.from([0x6b, 0x38, 0x73, 0]);
    const nested = Buffer.alloc(300_000, 0x0a);
    for (const rest of [nested, Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x07]), Buffer.from([0x0b, 0x0b, 0x0b])]) {
      const { status } = await bounded(1_000, () => post({ body: Buffer.concat([magic, rest]), contentType }));
      assert.equal(status, 400);
    }
  });

  test('numbers beyond all bounds are refused or kept as they are, never evaluated', async () => {
    const body = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"n"},"spec":{"a":1e999999999}}`;
    assert.equal((await bounded(500, () => post({ body }, things))).status, 400);
  });

  test('thousands of unknown fields cost neither time nor headers, more are refused', async () => {
    for (const [count, expected] of [
      [20_000, 201],
      [100_000, 413],
    ] as const) {
      const fields = Array.from({ length: count }, (_, at) => `"u${at}":1`).join(',');
      const body = `{"metadata":{"name":"unknown"},${fields}}`;
      const { status, headers } = await bounded(5_000, () =>
        post({ body }, `${mine}/configmaps?dryRun=All&fieldValidation=Warn`),
      );
      assert.equal(status, expected);
      assert.ok(String(headers['warning'] ?? '').length < 64_000);
    }
  });
});

describe('values', () => {
  const pod = (resources: object, spec: object = {}) => ({
    metadata: { name: 'q' },
    spec: { containers: [{ name: 'c', image: 'i', resources }], ...spec },
  });

  test('quantities with exponents or digits without end are refused, not computed', async () => {
    for (const cpu of [
      '1e999999999',
      '1e100000',
      '1e-999999999',
      '1E+2147483647',
      '9'.repeat(300_000),
      `0.${'0'.repeat(300_000)}1`,
    ]) {
      const { status } = await bounded(1_000, () =>
        post({ body: pod({ limits: { cpu } }) }, `${mine}/pods?dryRun=All`),
      );
      assert.equal(status, 400, cpu.slice(0, 20));
    }
  });

  test('lists of many thousands are checked in time in proportion to their length', async () => {
    const many = (count: number, make: (at: number) => object) => Array.from({ length: count }, (_, at) => make(at));
    const containers = many(18_000, () => ({ name: 'c', image: 'i' }));
    assert.equal(
      (await bounded(4_000, () => post({ body: pod({}, { containers }) }, `${mine}/pods?dryRun=All`))).status,
      422,
    );
    const ports = many(18_000, (at) => ({ name: `p${at}`, port: at + 1 }));
    const service = { metadata: { name: 's' }, spec: { ports } };
    assert.equal((await bounded(4_000, () => post({ body: service }, `${mine}/services?dryRun=All`))).status, 201);
    const ownerReferences = many(10_000, (at) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${at}`, uid: `u${at}` }));
    assert.equal(
      (await bounded(4_000, () => post({ body: { metadata: { name: 'o', ownerReferences } } }))).status,
      201,
    );
  });

  test('columns of a definition that look everywhere, again and again, find no more than there is', async () => {
    for (const [at, jsonPath] of [
      '.spec..a..a..a..a..a..a',
      '.spec..*..*..*..*',
      `.spec${'[*]'.repeat(500)}`,
    ].entries()) {
      const plural = `column${'abc'[at]}s`;
      const body = definition(plural, { 'x-kubernetes-preserve-unknown-fields': true }) as Data;
      body.spec.versions[0].additionalPrinterColumns = [{ name: 'x', type: 'string', jsonPath }];
      await victim.administrator.create(definitions, body);
      let spec: object = { a: 1 };
      for (let depth = 0; depth < 60; depth++) spec = { a: spec, b: 2 };
      const path = `/apis/example.com/v1/namespaces/mine/${plural}`;
      const kind = plural[0]!.toUpperCase() + plural.slice(1, -1);
      await victim.administrator.create(path, { ...thing('deep', kind), spec });
      const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
      assert.equal((await bounded(2_000, () => victim.administrator.request('GET', path, { headers }))).status, 200);
    }
  });
});

describe('patches', () => {
  test('a JSON patch that copies what it has copied is stopped', async () => {
    const operations = Array.from({ length: 40 }, (_, at) => ({ op: 'copy', from: '/spec', path: `/spec/c${at}` }));
    const { status } = await bounded(3_000, () => patch(operations, 'application/json-patch+json'));
    assert.equal(status, 422);
    assert.deepEqual(Object.keys((await victim.administrator.get(`${things}/one`)).spec), ['a']);
  });

  test('a JSON patch of too many operations is refused', async () => {
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/spec/a', value: 1 }));
    assert.equal((await bounded(3_000, () => patch(operations, 'application/json-patch+json'))).status, 413);
  });
});

describe('regular expressions', () => {
  const evil = ['^(a+)+$', '^(a|a)*$', '^(.*a){20}$', '(x+x+)+y'];

  test('a definition’s pattern takes time in proportion to the text', async () => {
    for (const [at, pattern] of evil.entries()) {
      const plural = `patterns${'abcd'[at]}s`;
      const spec = { properties: { text: { type: 'string', pattern } } };
      await victim.administrator.create(definitions, definition(plural, spec));
      const kind = plural[0]!.toUpperCase() + plural.slice(1, -1);
      const body = { ...thing('slow', kind), spec: { text: `${'ax'.repeat(20_000)}!` } };
      const { status } = await bounded(3_000, () => post({ body }, `/apis/example.com/v1/namespaces/mine/${plural}`));
      assert.equal(status, 422, pattern);
    }
  });

  test('a pattern that unfolds into millions of states is refused with its definition', async () => {
    const spec = { properties: { text: { type: 'string', pattern: '((((a{1,100}){1,100}){1,100}){1,100}){1,100}' } } };
    const { status } = await bounded(1_000, () => post({ body: definition('unfoldeds', spec) }, definitions));
    assert.equal(status, 422);
  });

  test('selectors are read in time in proportion to their length', async () => {
    const long = 50_000;
    for (const query of [
      `labelSelector=a in (${'b,'.repeat(long / 4)}c)`,
      `labelSelector=${'a,'.repeat(long / 4)}`,
      `labelSelector=${'('.repeat(long)}`,
      `labelSelector=${'!'.repeat(long)}a`,
      `labelSelector=${' '.repeat(long)}a`,
      `labelSelector=${'a'.repeat(long)}`,
      `fieldSelector=${'metadata.name=a,'.repeat(long / 32)}`,
      `fieldSelector=metadata.name=${'\\\\'.repeat(long / 4)}`,
      `continue=${'A'.repeat(long)}`,
    ]) {
      const path = `${mine}/configmaps?${query.replaceAll(' ', '%20').replaceAll('\\', '%5c')}`;
      const { status } = await bounded(2_000, () => victim.administrator.request('GET', path.slice(0, 60_000)));
      assert.ok(status === 400 || status === 200, `${status} ${query.slice(0, 40)}`);
    }
  });

  test('headers that are lists are read in time in proportion to their length', async () => {
    for (const headers of [
      { accept: 'a/b;q=0.1,'.repeat(5_000) },
      { accept: `application/json;${'x=y;'.repeat(12_000)}` },
      { 'accept-encoding': 'gzip;q=0,'.repeat(5_000) },
      { 'content-type': `application/json;${' '.repeat(50_000)}charset=utf-8` },
      { 'if-none-match': '"a",'.repeat(12_000) },
      { 'user-agent': `${'a/'.repeat(25_000)}` },
    ] as Record<string, string>[]) {
      await bounded(2_000, () => victim.administrator.request('GET', `${mine}/configmaps`, { headers }));
    }
  });
});

describe('expressions', () => {
  const rules = (rule: string, more: object = {}): object => ({
    properties: { list: { type: 'array', items: { type: 'string' }, ...more } },
    'x-kubernetes-validations': [{ rule }],
  });

  test('a rule that may cost too much is refused with its definition', async () => {
    for (const [at, rule] of [
      'self.list.all(a, self.list.all(b, self.list.all(c, a == b && b == c)))',
      'self.list.all(a, self.list.exists(b, a.contains(b)))',
    ].entries()) {
      const { status, data } = await bounded(2_000, () =>
        post({ body: definition(`costlys${'ab'[at]}s`, rules(rule)) }, definitions),
      );
      assert.equal(status, 422, rule);
      assert.match(data.message, /exceeds? budget|estimated rule cost/i);
    }
  });

  test('an expression that is deep, long or endless to read is refused', async () => {
    for (const rule of ['('.repeat(50_000), `${'[1] + '.repeat(20_000)}[1] == []`, `"${'\\\\'.repeat(20_000)}`]) {
      const { status } = await bounded(4_000, () => post({ body: definition('deeps', rules(rule)) }, definitions));
      assert.equal(status, 422, rule.slice(0, 20));
    }
  });

  test('a policy that costs too much at run time refuses its request, and takes a bounded time for it', async () => {
    const admission = '/apis/admissionregistration.k8s.io/v1';
    const expressions: Record<string, string> = {
      loops: `object.spec.list.all(a, object.spec.list.all(b, object.spec.list.all(c, a + b + c != 'x')))`,
      matches: `object.spec.list.all(a, a.matches('^(a+)+$') || !(a + a).matches('(x+x+)+y'))`,
      grows: `[0,1,2,3,4,5,6,7,8,9].map(a, [0,1,2,3,4,5,6,7,8,9].map(b, object.spec.list)).size() == 10 && object.spec.list.map(a, object.spec.list).size() == 0`,
    };
    const names = Object.keys(expressions);
    for (const [name, expression] of Object.entries(expressions)) {
      await victim.administrator.create(`${admission}/validatingadmissionpolicies`, {
        metadata: { name },
        spec: {
          failurePolicy: 'Fail',
          matchConstraints: {
            resourceRules: [
              { apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['things'], operations: ['CREATE'] },
            ],
          },
          validations: [{ expression }],
        },
      });
      const spec = { policyName: name, validationActions: ['Deny'] };
      await victim.administrator.create(`${admission}/validatingadmissionpolicybindings`, { metadata: { name }, spec });
    }
    const list = Array.from({ length: 3_000 }, (_, at) => `${'a'.repeat(200)}${at}`);
    let received: Received | undefined;
    // Policies count from a moment after they were written.
    for (let attempt = 0; attempt < 100 && received?.status !== 422; attempt++) {
      const body = { ...thing(`costs-${attempt}`), spec: { list } };
      received = await bounded(15_000, () => post({ body }, `${things}?dryRun=All`));
    }
    assert.equal(received?.status, 422, received?.text.slice(0, 500) ?? '');
    for (const name of names) {
      await victim.administrator.expect(200, 'DELETE', `${admission}/validatingadmissionpolicybindings/${name}`);
      await victim.administrator.expect(200, 'DELETE', `${admission}/validatingadmissionpolicies/${name}`);
    }
  });
});
