/**
 * Expressions with the results of Kubernetes 1.36's own CEL packages: type, estimated cost, result, actual cost, or the error message.
 * Recorded in `recorded.json`; known differences are listed here with the reason.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import * as cel from '../index.ts';
import type { StructuralSchema } from '../index.ts';

interface Recorded {
  readonly expr: string;
  readonly syntaxError?: true;
  readonly typeError?: string;
  readonly type: string;
  readonly estimate: readonly [number, number];
  readonly fails?: true;
  readonly value?: string;
  readonly cost?: number;
}

interface Recording {
  readonly schema: StructuralSchema;
  readonly self: unknown;
  readonly cases: readonly Recorded[];
}

const recordings = JSON.parse(readFileSync(new URL('recorded.json', import.meta.url), 'utf8')) as readonly Recording[];

const absorbed = 'costs of calls that failed inside an absorbed error are not counted';
const literalFormat = 'format clauses are only checked when they run';
const deviations: Readonly<
  Record<string, { readonly field: 'cost' | 'typeError' | 'value'; readonly reason: string }>
> = {
  '1 / 0 == 1 || true': { field: 'cost', reason: absorbed },
  '1 / 0 == 1 && false': { field: 'cost', reason: absorbed },
  '[1,2].exists(x, 1 / (x - 1) > 0)': { field: 'cost', reason: absorbed },
  '[[1,[2]],[3]].flatten(2)': { field: 'typeError', reason: 'a second message that follows from the first' },
  "'%d'.format([1.5])": { field: 'typeError', reason: literalFormat },
  "'%.3f'.format([2])": { field: 'typeError', reason: literalFormat },
  "'%e'.format([1])": { field: 'typeError', reason: literalFormat },
  "'%e'.format([0.0/0.0])": { field: 'value', reason: 'padding before NaN' },
};

const environmentOf = ({ schema }: Recording): cel.Environment =>
  cel.kubernetesEnvironment({ self: cel.schemaType(schema, { name: 'selfType' })! });

function show(value: cel.CelValue): string {
  if (typeof value === 'number' || typeof value === 'bigint') return `int:${value}`;
  if (typeof value === 'string') return `string:${JSON.stringify(value)}`;
  if (typeof value === 'boolean') return `bool:${value}`;
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return `bytes:${Buffer.from(value).toString('hex')}`;
  if (value instanceof cel.Uint) return `uint:${value.value}`;
  if (value instanceof cel.Double) return `double:${value.value}`;
  if (value instanceof cel.Duration) return `duration:${String(cel.toJson(value))}`;
  if (value instanceof cel.Timestamp) return `timestamp:${String(cel.toJson(value))}`;
  if (value instanceof cel.TypeValue) return `type:${value.name}`;
  if (value instanceof cel.Optional)
    return value.value === undefined ? 'optional.none' : `optional(${show(value.value)})`;
  if (value instanceof cel.CelList) return `[${value.toArray().map(show).join(',')}]`;
  return value instanceof cel.CelMap ? `map(${value.size})` : value.typeName;
}

/** Go and JavaScript write doubles differently, and Go escapes some characters in JSON. */
function comparable(value: string): string {
  if (value.startsWith('double:')) return `double:${Number(value.slice(7).replace('+Inf', 'Infinity'))}`;
  return value.replace(/\\u003c|\\u003e|\\u0026/g, (code) => String.fromCharCode(Number.parseInt(code.slice(2), 16)));
}

function verify(recorded: Recorded, env: cel.Environment, self: unknown): void {
  const deviation = deviations[recorded.expr];
  const compile = () => cel.compile(recorded.expr, env);
  if (recorded.syntaxError) {
    assert.throws(compile, { code: 'Syntax' });
    return;
  }
  if (recorded.typeError !== undefined) {
    if (deviation?.field !== 'typeError') assert.throws(compile, { message: recorded.typeError });
    return;
  }
  const program = compile();
  assert.equal(cel.formatType(program.outputType), recorded.type);
  const { min, max } = program.estimatedCost;
  assert.equal(min, recorded.estimate[0], 'lower estimate');
  // Beyond 2^53 both are far above every limit, and ours is rounded.
  assert.ok(
    Math.abs(max - recorded.estimate[1]) <= recorded.estimate[1] * 1e-12,
    `upper estimate ${max}, not ${recorded.estimate[1]}`,
  );
  const evaluate = () => program.evaluate({ self });
  if (recorded.fails) {
    assert.throws(evaluate, { code: 'Evaluation' });
    return;
  }
  const { value, cost } = evaluate();
  if (deviation?.field !== 'value') assert.equal(show(value), comparable(recorded.value!));
  if (deviation?.field !== 'cost') assert.equal(cost, recorded.cost, 'actual cost');
}

describe('as recorded from Kubernetes', () => {
  for (const recording of recordings) {
    const env = environmentOf(recording);
    for (const recorded of recording.cases) test(recorded.expr, () => verify(recorded, env, recording.self));
  }
});

test('every listed deviation is still one', () => {
  const [recording] = recordings as [Recording];
  const env = environmentOf(recording);
  const listed = recording.cases.filter(({ expr }) => Object.hasOwn(deviations, expr));
  assert.equal(listed.length, Object.keys(deviations).length);
  for (const recorded of listed) {
    const { field } = deviations[recorded.expr]!;
    if (field === 'typeError') {
      assert.notEqual(messageOf(recorded.expr, env), recorded.typeError, recorded.expr);
      continue;
    }
    const { value, cost } = cel.compile(recorded.expr, env).evaluate({ self: recording.self });
    if (field === 'cost') assert.notEqual(cost, recorded.cost, recorded.expr);
    else assert.notEqual(show(value), comparable(recorded.value!), recorded.expr);
  }
});

/** Why an expression is refused; empty when it is not. */
function messageOf(expr: string, env: cel.Environment): string {
  try {
    cel.compile(expr, env);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
