import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import {
  applyConfigurationJson,
  applyConfigurations,
  authorizerType,
  authorizerValue,
  celLibraries,
  compile,
  Double,
  dynType,
  environment,
  estimatedRuleCostLimit,
} from './index.ts';
import {
  intType,
  jsonPatches,
  kubernetesEnvironment,
  listOf,
  optionalOf,
  Optional,
  schemaType,
  toJson,
  Uint,
  WorkBudget,
} from './index.ts';
import type { StructuralSchema } from './index.ts';

const dynEnv = kubernetesEnvironment({ object: dynType });
const evaluate = (source: string, object: unknown, budget?: WorkBudget): unknown =>
  toJson(compile(source, dynEnv).evaluate({ object }, { budget }).value);
const typed = (schema: StructuralSchema) => kubernetesEnvironment({ self: schemaType(schema)! });

describe('objects', () => {
  test('inherited properties are no fields', () => {
    for (const key of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']) {
      assert.equal(evaluate(`has(object.${key})`, {}), false);
      assert.equal(evaluate(`'${key}' in object`, {}), false);
      assert.throws(() => evaluate(`object.${key}`, {}), { code: 'Evaluation', message: `no such key: ${key}` });
      assert.throws(() => evaluate(`object['${key}']`, {}), { code: 'Evaluation' });
      assert.throws(() => evaluate(`object.a.${key}`, { a: [] }), { code: 'Evaluation' });
      assert.equal(evaluate(`object.?${key}.hasValue()`, {}), false);
    }
  });

  test('own properties of such names are fields like any other', () => {
    const object = JSON.parse('{"__proto__": {"x": 1}, "constructor": "c"}') as unknown;
    assert.equal(evaluate('object.__proto__.x', object), 1);
    assert.equal(evaluate('object.constructor', object), 'c');
    const copied = evaluate('object', object) as Record<string, unknown>;
    assert.equal(JSON.stringify(copied), '{"__proto__":{"x":1},"constructor":"c"}');
    assert.equal(Object.getPrototypeOf(copied), Object.prototype);
  });

  test('a variable is only found among the bindings own properties', () => {
    const env = kubernetesEnvironment({ toString: dynType });
    assert.throws(() => compile('toString', env).evaluate({}), { code: 'Evaluation' });
  });

  test('the schema decides what a JSON number is', () => {
    const env = typed({ type: 'object', properties: { i: { type: 'integer' }, d: { type: 'number' } } });
    assert.deepEqual(compile('self.d', env).evaluate({ self: { d: 1 } }).value, new Double(1));
    assert.equal(compile('self.i / 2', env).evaluate({ self: { i: 3 } }).value, 1);
    assert.deepEqual(compile('self.d / 2.0', env).evaluate({ self: { d: 3 } }).value, new Double(1.5));
  });

  test('properties that are no identifiers have escaped names', () => {
    const env = typed({
      type: 'object',
      properties: { 'a-b.c/d': { type: 'string' }, for: { type: 'integer' }, x__y: { type: 'integer' } },
    });
    const self = { 'a-b.c/d': 'v', for: 1, x__y: 2 };
    const source =
      "self.a__dash__b__dot__c__slash__d == 'v' && has(self.__for__) && self.?__for__.orValue(0) == 1 && self.x__underscores__y == 2";
    assert.equal(compile(source, env).evaluate({ self }).value, true);
  });

  test('null where the schema wants a number is an error, not a zero', () => {
    const env = typed({ type: 'object', properties: { i: { type: 'integer' } } });
    assert.throws(() => compile('self.i < 5', env).evaluate({ self: { i: null } }), { code: 'Evaluation' });
    assert.throws(() => compile('self.i + 5', env).evaluate({ self: { i: null } }), { code: 'Evaluation' });
  });

  test('lists that are sets or maps of a key compare without order and merge when added', () => {
    const env = typed({
      type: 'object',
      properties: {
        set: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
        map: {
          type: 'array',
          items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'integer' } } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
        },
      },
    });
    const self = {
      set: [1, 2],
      map: [
        { k: 'a', v: 1 },
        { k: 'b', v: 2 },
      ],
    };
    assert.equal(compile('self.set == [2, 1]', env).evaluate({ self }).value, true);
    assert.deepEqual(toJson(compile('self.set + [2, 3]', env).evaluate({ self }).value), [1, 2, 3]);
    assert.equal(compile('(self.map + self.map).size()', env).evaluate({ self }).value, 2);
  });

  test('a rule sees formatted strings as bytes, timestamps and durations', () => {
    const format = (name: string): StructuralSchema => ({ type: 'string', format: name });
    const env = typed({
      type: 'object',
      properties: { b: format('byte'), t: format('date-time'), d: format('duration') },
    });
    const source = "self.b == b'hello' && self.t.getFullYear() == 2024 && self.d == duration('90m')";
    const self = { b: 'aGVsbG8=', t: '2024-05-01T00:00:00Z', d: '1h30m' };
    assert.equal(compile(source, env).evaluate({ self }).value, true);
  });
});

describe('budgets', () => {
  const env = kubernetesEnvironment({ n: listOf(intType) });
  const n = Array.from({ length: 1_000 }, (_, index) => index);

  test('an evaluation stops when it has cost too much, whatever would absorb the error', () => {
    const program = compile('true || n.all(a, n.all(b, n.all(c, a + b + c >= 0)))', env);
    assert.equal(program.evaluate({ n }).value, true);
    const costly = compile('n.all(a, n.all(b, n.all(c, a + b + c >= 0))) || true', env);
    assert.throws(() => costly.evaluate({ n }), { code: 'CostLimitExceeded' });
    assert.throws(() => costly.evaluate({ n }, { costLimit: 10 }), { code: 'CostLimitExceeded' });
  });

  test('a rule whose estimate is above the limit is refused', () => {
    const schema: StructuralSchema = { type: 'array', items: { type: 'string' } };
    const unbounded = kubernetesEnvironment({ self: schemaType(schema)! });
    const bounded = kubernetesEnvironment({
      self: schemaType({ ...schema, maxItems: 10, items: { type: 'string', maxLength: 10 } })!,
    });
    const source = 'self.all(x, self.exists_one(y, x == y))';
    assert.throws(() => compile(source, unbounded, { costLimit: estimatedRuleCostLimit }), { code: 'Cost' });
    assert.ok(compile(source, bounded, { costLimit: estimatedRuleCostLimit }).estimatedCost.max < 10_000);
  });

  test('an evaluation leaves nothing behind for the next', () => {
    const program = compile('n.map(a, a * 2).size()', env);
    assert.equal(program.evaluate({ n }).cost, program.evaluate({ n }).cost);
    assert.throws(() => program.evaluate({}), { code: 'Evaluation' });
  });

  test('what an expression makes is bounded, also where its cost only counts what goes in', () => {
    const text = 'a'.repeat(1_000_000);
    for (const source of [
      "object.replace('', object).size() > 0",
      "object.split('').join(object).size() > 0",
      `(${Array.from({ length: 17 }, () => 'object').join(' + ')}).size() > 0`,
      "'%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s'.format([object, object, object, object, object, object, object, object, object, object, object, object, object, object, object, object, object, object, object, object]).size() > 0",
    ]) {
      const budget = new WorkBudget({ totalMs: Infinity, sliceMs: Infinity, bytes: 2 ** 30 });
      assert.throws(() => evaluate(source, text, budget), { code: 'Evaluation', message: /would be longer/ });
    }
    const many = Array.from({ length: 100_000 }, (_, index) => index);
    const sum = Array.from({ length: 50 }, () => 'object').join(' + ');
    assert.throws(() => evaluate(`(${sum}).size()`, many), { code: 'Evaluation', message: /more than \d+ elements/ });
    assert.throws(() => evaluate('object.distinct().size()', many), { code: 'CostLimitExceeded' });
    assert.equal(evaluate('lists.range(1000).map(x, object + object).size()', many), 1_000);
    assert.equal(evaluate('(object + object)[150000]', many), 50_000);
  });

  test('data nested deeper than the stack is an error of the evaluation', () => {
    let nested: unknown = 1;
    for (let level = 0; level < 100_000; level++) nested = [nested];
    assert.throws(() => evaluate('object[0] == object', [nested]), { code: 'Evaluation' });
  });

  test('a huge range is refused before it is made', () => {
    assert.throws(() => compile('lists.range(4611686018427387904).size()', env).evaluate({}), { code: 'Evaluation' });
  });
});

describe('ints', () => {
  const env = environment({ libraries: celLibraries, variables: { a: intType, b: intType } });
  const int64 = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.integer().map(BigInt),
    fc.constantFrom(2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n), 0n, -1n),
  );
  const operators: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => a / b,
    '%': (a, b) => (a === -(2n ** 63n) && b === -1n ? 2n ** 64n : a % b),
  };
  for (const [operator, exact] of Object.entries(operators)) {
    const program = compile(`a ${operator} b`, env);
    test(`a ${operator} b is exact or an error over all of int64`, () => {
      fc.assert(
        fc.property(int64, int64, (a, b) => {
          const run = () => program.evaluate({ a, b }).value;
          const divides = operator === '/' || operator === '%';
          const wanted = divides && b === 0n ? undefined : exact(a, b);
          if (wanted === undefined || wanted > 2n ** 63n - 1n || wanted < -(2n ** 63n)) {
            assert.throws(run, { code: 'Evaluation' });
            return;
          }
          const value = run();
          assert.equal(BigInt(value as bigint), wanted);
          assert.equal(typeof value, Number.isSafeInteger(Number(wanted)) ? 'number' : 'bigint');
          assert.ok(!Object.is(value, -0));
        }),
      );
    });
  }
});

describe('values', () => {
  test('an optional variable can be given as one', () => {
    const env = kubernetesEnvironment({ oldSelf: optionalOf(intType) });
    const program = compile('oldSelf.hasValue() ? oldSelf.value() : -1', env);
    assert.equal(program.evaluate({ oldSelf: Optional.none }).value, -1);
    assert.equal(program.evaluate({ oldSelf: new Optional(3) }).value, 3);
  });

  test('a lazily computed field is only computed when an expression asks for it', () => {
    let computed = 0;
    const env = kubernetesEnvironment({ variables: dynType });
    const variables = {
      get costly() {
        computed += 1;
        return 5;
      },
    };
    assert.equal(compile('true || variables.costly > 1', env).evaluate({ variables }).value, true);
    assert.equal(computed, 0);
    assert.equal(compile('variables.costly > 1', env).evaluate({ variables }).value, true);
    assert.equal(computed, 1);
  });

  test('patches are built as messages and come out as JSON', () => {
    const env = kubernetesEnvironment({ object: dynType }, [jsonPatches]);
    const source = "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b~c'), value: object.x}]";
    const value = toJson(compile(source, env).evaluate({ object: { x: { y: [1] } } }).value);
    assert.deepEqual(value, [{ op: 'add', path: '/metadata/labels/a~1b~0c', value: { y: [1] } }]);
    assert.throws(() => compile("JSONPatch{nope: 'x'}", env), { code: 'Type' });
  });

  test('apply configurations are messages named by their path', () => {
    const env = kubernetesEnvironment({ object: dynType }, [applyConfigurations]);
    const make = (source: string) => applyConfigurationJson(compile(source, env).evaluate({ object: { n: 2 } }).value);
    const source =
      "Object{metadata: Object.metadata{labels: {'a': 'b'}}, spec: Object.spec{replicas: object.n, list: [Object.spec.list{x: 1}]}}";
    assert.deepEqual(make(source), { metadata: { labels: { a: 'b' } }, spec: { replicas: 2, list: [{ x: 1 }] } });
    assert.throws(() => make('Object{spec: Object.status{replicas: 1}}'), {
      code: 'Evaluation',
      message: /expected "Object.spec"/,
    });
    assert.throws(() => compile('Nope{x: 1}', env), { code: 'Type' });
  });

  test('the authorizer is asked what the expression built', () => {
    const asked: unknown[] = [];
    const authorizer = authorizerValue((question, verb) => {
      asked.push({ ...question, verb });
      return { allowed: verb === 'get', reason: 'because' };
    });
    const env = kubernetesEnvironment({ authorizer: authorizerType });
    const source =
      "authorizer.serviceAccount('ns', 'sa').group('apps').resource('deployments').subresource('scale').namespace('n').name('x').check('get').allowed()" +
      " && authorizer.path('/healthz').check('post').reason() == 'because'";
    const { value, cost } = compile(source, env).evaluate({ authorizer });
    assert.equal(value, true);
    assert.ok(cost > 700_000);
    assert.deepEqual(asked, [
      {
        serviceAccount: { namespace: 'ns', name: 'sa' },
        group: 'apps',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'n',
        name: 'x',
        verb: 'get',
      },
      { path: '/healthz', verb: 'post' },
    ]);
  });

  test('JSON has no infinity, and unsigned ints keep their value', () => {
    assert.throws(() => toJson(new Double(Infinity)), { code: 'Evaluation' });
    assert.equal(toJson(new Uint(2n ** 64n - 1n)), 2n ** 64n - 1n);
  });

  test('a program may be evaluated while it is being evaluated', () => {
    const env = kubernetesEnvironment({ n: dynType, inner: dynType });
    const program = compile('n.map(x, x + inner.value)', env);
    const inner = {
      get value() {
        return program.evaluate({ n: [1], inner: { value: 10 } }).cost > 0 ? 1 : 0;
      },
    };
    assert.deepEqual(toJson(program.evaluate({ n: [1, 2, 3], inner }).value), [2, 3, 4]);
  });
});
