import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CelError, compile, kubernetesEnvironment, LazyMap, listOf, stringType } from '../index.ts';
import type { CelValue, ObjectType } from '../index.ts';

const type: ObjectType = {
  kind: 'object',
  name: 'vars',
  fields: new Map([
    ['good', { type: stringType }],
    ['bad', { type: stringType }],
  ]),
};
const env = kubernetesEnvironment({ variables: type, texts: listOf(stringType) });

function variables(computed: string[], bad: () => CelValue): LazyMap {
  const note = (name: string, value: () => CelValue) => (): CelValue => {
    computed.push(name);
    return value();
  };
  return new LazyMap(
    'vars',
    new Map([
      ['good', note('good', () => 'x')],
      ['bad', note('bad', bad)],
    ]),
  );
}

test('values are computed when an expression needs them, and once', () => {
  const computed: string[] = [];
  const map = variables(computed, () => 'y');
  assert.equal(compile("variables.good == 'x' && variables.good == 'x'", env).evaluate({ variables: map }).value, true);
  assert.deepEqual(computed, ['good']);
});

test('a value that fails is a failure that another side may outweigh', () => {
  const computed: string[] = [];
  const map = variables(computed, () => {
    throw new CelError('Evaluation', 'broken');
  });
  assert.equal(compile("variables.bad == 'x' || true", env).evaluate({ variables: map }).value, true);
  assert.throws(() => compile("variables.bad == 'x'", env).evaluate({ variables: map }), { message: 'broken' });
  assert.deepEqual(computed, ['bad']);
});

test('time that is up, and what is no failure of the expression, ends the evaluation', () => {
  const program = compile("variables.bad == 'x' || true", env);
  for (const thrown of [new CelError('Interrupted', 'late'), new TypeError('not ours')]) {
    const map = variables([], () => {
      throw thrown;
    });
    assert.throws(() => program.evaluate({ variables: map }), { message: thrown.message });
  }
});
