import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compilationMsMax, inSlices, interruptionsMax, sliceMsMax, WorkBudget } from '@hangar/cel';
import { systemClock } from '@hangar/core';
import { cpuTime, steppedCpuTime } from '@hangar/core/testing';
import { fieldErrorText } from '../../status/field-error.ts';
import type { JsonSchema } from '../json-schema.ts';
import { Correlation } from '../structural/correlate.ts';
import { schemaNode } from '../structural/node.ts';
import { runRules } from './evaluate.ts';
import type { RuleOutcome } from './evaluate.ts';
import { resolveFieldPath } from './field-path.ts';
import { RuleNode } from './rule-tree.ts';

const rule = (text: string, more: object = {}): object => ({ 'x-kubernetes-validations': [{ rule: text, ...more }] });

function run(schema: object, value: unknown, old?: unknown, budget?: WorkBudget): RuleOutcome {
  const node = schemaNode({ type: 'object', properties: { a: schema } } as JsonSchema);
  const isUpdate = old !== undefined;
  const [now, before] = [{ a: value }, { a: old }];
  const ratcheting = isUpdate ? { old: before, before: new Correlation(now, before, node) } : {};
  return runRules(new RuleNode(node, true), now, { ...ratcheting, budget });
}
const errors = (...args: Parameters<typeof run>): string[] => run(...args).errors.map(fieldErrorText);

test('a failed rule shows its message, or itself', () => {
  assert.deepEqual(errors({ type: 'integer', ...rule('self > 5') }, 3), ['a: Invalid value: 3: failed rule: self > 5']);
  assert.deepEqual(errors({ type: 'integer', ...rule('self > 5', { message: 'too small' }) }, 3), [
    'a: Invalid value: 3: too small',
  ]);
  assert.deepEqual(errors({ type: 'object', ...rule('false') }, {}), ['a: Invalid value: failed rule: false']);
});

test('messageExpression, reason and fieldPath shape the error', () => {
  const text = { type: 'string', maxLength: 9 };
  assert.deepEqual(errors({ ...text, ...rule('false', { messageExpression: "'bad ' + self" }) }, 'x'), [
    'a: Invalid value: "x": bad x',
  ]);
  assert.deepEqual(errors({ ...text, ...rule('false', { messageExpression: "' '", message: 'plain' }) }, 'x'), [
    'a: Invalid value: "x": plain',
  ]);
  assert.deepEqual(errors({ ...text, ...rule('false', { reason: 'FieldValueForbidden', message: 'no' }) }, 'x'), [
    'a: Forbidden: no',
  ]);
  assert.deepEqual(errors({ ...text, ...rule('false', { reason: 'FieldValueDuplicate' }) }, 'x'), [
    'a: Duplicate value: "x"',
  ]);
  const object = { type: 'object', properties: { b: text }, ...rule('false', { fieldPath: '.b', message: 'm' }) };
  assert.deepEqual(errors(object, {}), ['a.b: Invalid value: m']);
});

test('transition rules wait for something to compare with, unless it is optional', () => {
  assert.deepEqual(errors({ type: 'integer', ...rule('self >= oldSelf') }, 1), []);
  assert.equal(errors({ type: 'integer', ...rule('self >= oldSelf') }, 1, 2).length, 1);
  const optional = { type: 'integer', ...rule('oldSelf.hasValue()', { optionalOldSelf: true }) };
  assert.equal(errors(optional, 1).length, 1);
  assert.deepEqual(errors(optional, 1, 1), []);
});

test('a rule that failed before is a warning while the value stays', () => {
  const schema = { type: 'integer', ...rule('self > 5', { message: 'too small' }) };
  assert.deepEqual(run(schema, 3, 3), { errors: [], warnings: ['a: Invalid value: 3: too small'] });
  assert.equal(errors(schema, 3, 4).length, 1);
});

test('a rule that cannot be evaluated says why', () => {
  const schema = { type: 'object', properties: { b: { type: 'integer' } }, ...rule('1 / self.b == 1') };
  assert.deepEqual(errors(schema, { b: 0 }), [
    'a: Invalid value: "object": division by zero evaluating rule: 1 / self.b == 1',
  ]);
});

test('a null field is absent to rules, a null in a list is not', () => {
  const text = { type: 'string', nullable: true };
  const schema = { type: 'object', properties: { b: text, list: { type: 'array', items: text } } };
  assert.deepEqual(errors({ ...schema, ...rule('!has(self.b)') }, { b: null }), []);
  assert.deepEqual(errors({ ...schema, ...rule('self.list.size() == 1') }, { list: [null] }), []);
  assert.match(errors({ ...schema, ...rule("self.b == 'x'") }, { b: null })[0]!, /no such key: b evaluating rule/);
});

test('all rules of one request share a budget', () => {
  const items = { type: 'array', items: { type: 'string', ...rule("self.contains('x')") } };
  const list = Array.from({ length: 200 }, () => 'x'.repeat(600_000));
  const found = errors(items, list, undefined, new WorkBudget({ totalMs: Infinity, sliceMs: Infinity }));
  assert.equal(found.length, 1);
  assert.match(
    found[0]!,
    /validation failed due to running out of cost budget, no further validation rules will be run$/,
  );
});

test('items of list maps are compared with those of the same keys', () => {
  const schema = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: {
      type: 'object',
      properties: { k: { type: 'string' }, n: { type: 'integer' } },
      ...rule('self.n >= oldSelf.n', { message: 'm' }),
    },
  };
  const old = [
    { k: 'a', n: 1 },
    { k: 'b', n: 5 },
  ];
  assert.deepEqual(
    errors(
      schema,
      [
        { k: 'b', n: 4 },
        { k: 'a', n: 2 },
        { k: 'c', n: 0 },
      ],
      old,
    ),
    ['a[0]: Invalid value: m'],
  );
});

test('paths are held against the schema', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'object', additionalProperties: { type: 'string' } }, 'b.c': { type: 'string' } },
  } as JsonSchema;
  const text = (path: string, brackets = true): string => {
    const found = resolveFieldPath(path, schema, brackets);
    return typeof found === 'string' ? `problem: ${found}` : found.text;
  };
  assert.equal(text('.a.x'), 'a[x]');
  assert.equal(text(".a['x.y']"), 'a[x.y]');
  assert.equal(text("['b.c']"), 'b.c');
  assert.equal(text('.z'), 'problem: does not refer to a valid field');
  assert.equal(text('a'), 'problem: expected [ or . but got: a');
  assert.equal(text("['b.c']", false), 'problem: array notation is not allowed');
  assert.equal(text('.a.'), 'problem: unexpected end of JSON path');
  assert.equal(text('[x]'), 'problem: expected single quoted string but got x');
});

test('rules that cost little and take long are interrupted, all of them together', () => {
  const ten = '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]';
  const slow = `${ten}.all(a, ${ten}.all(b, ${ten}.all(c, ${ten}.all(d, ${ten}.all(e, self.size() > 0)))))`;
  const schema = { type: 'string', 'x-kubernetes-validations': [{ rule: slow }, { rule: `${slow} ` }] };
  const takenMs = cpuTime();
  assert.deepEqual(errors(schema, '\u00fc'.repeat(2_000_000)), [
    `a: Invalid value: "string": operation interrupted: evaluation takes more than ${sliceMsMax} ms of CPU time evaluating rule: ${slow}`,
  ]);
  assert.ok(takenMs() < 5 * sliceMsMax);
});

describe('a compilation that is interrupted', () => {
  /** Long enough for the budget to read the clock several times while it compiles a rule. */
  const long = `self in [${Array.from({ length: 1_000 }, (_, at) => at).join(', ')}]`;
  const node = (count = 1): RuleNode => {
    const rules = Array.from({ length: count }, () => ({ rule: long }));
    return new RuleNode(schemaNode({ type: 'integer', 'x-kubernetes-validations': rules } as JsonSchema), false);
  };
  const texts = ({ errors: found }: RuleOutcome): string[] => found.map(fieldErrorText);
  const tooLong = `rule compile error: compilation failed: operation interrupted: evaluation takes more than ${sliceMsMax} ms of CPU time`;

  test('is repeated by the next run', (t) => {
    steppedCpuTime(t, (read) => (read === 2 ? 60 : 0));
    const rules = node();
    assert.deepEqual(texts(runRules(rules, 1)), [`<nil>: Invalid value: "integer": ${tooLong}`]);
    assert.deepEqual(texts(runRules(rules, 1)), []);
  });

  test('is repeated after a rest within the same request', async (t) => {
    steppedCpuTime(t, (read) => (read === 2 ? 60 : 0));
    const rules = node();
    assert.deepEqual(texts(await inSlices(systemClock, () => runRules(rules, 1))), []);
  });

  test('counts as a failure of the rule when it is interrupted every time', async (t) => {
    const reads = steppedCpuTime(t, () => 60);
    const rules = node();
    for (let run = 1; run < interruptionsMax; run++) assert.match(texts(runRules(rules, 1))[0]!, /interrupted/);
    assert.match(texts(runRules(rules, 1))[0]!, /interrupted/);
    const before = reads();
    assert.deepEqual(texts(runRules(rules, 1)), [`<nil>: Invalid value: "integer": ${tooLong}`]);
    assert.equal(reads(), before, 'the rule is not compiled again');

    const inOneRequest = node();
    assert.match(texts(await inSlices(systemClock, () => runRules(inOneRequest, 1)))[0]!, /interrupted/);
    assert.ok(inOneRequest.isCompiled);
  });

  test('by a budget that other rules exhausted is never kept', async (t) => {
    steppedCpuTime(t, () => 2);
    const rules = node(600);
    const request = async (): Promise<string[]> => texts(await inSlices(systemClock, () => runRules(rules, 1)));
    const exhausted = `take more than ${compilationMsMax} ms of CPU time`;
    const outcomes = await Promise.all([request(), request(), request()]);
    assert.ok(
      outcomes.every(([text]) => text?.includes(exhausted)),
      outcomes.join(),
    );
    while (!rules.isCompiled) await request();
    assert.ok(rules.rules.every(({ error }) => error === undefined));
  });
});
