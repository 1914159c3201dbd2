/**
 * Calls every function of Kubernetes' environment in a loop, with arguments of the largest size that fits a request: each evaluation must
 * stop within its budget of processor time and memory.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cpuTime } from '@hangar/core/testing';
import {
  authorizerType,
  authorizerValue,
  CelError,
  compile,
  dynType,
  kubernetesEnvironment,
  LazyMap,
  sliceMsMax,
  stringType,
  toJson,
  WorkBudget,
} from './index.ts';
import type { CelBindings, CelValue, Environment, Overload } from './index.ts';
import { argumentsOf } from './testing/large-arguments.ts';
import type { Argument } from './testing/large-arguments.ts';

const authorizer = authorizerValue(() => ({ allowed: true, reason: '' }));
const anything = Object.fromEntries(['a0', 'a1', 'a2', 'a3', 'large'].map((name) => [name, dynType]));
const env = kubernetesEnvironment({ ...anything, text: stringType, authorizer: authorizerType });
/** There are many functions: an evaluation that stops within a short slice stops within any. */
const shortSliceMs = 2;
/** The step in progress when the slice expired, and the overhead of measuring. */
const stepMsMax = 45;

/** Takes the best of three, because garbage collection may run in one of them. The results of the evaluations are ignored. */
function assertBounded(run: () => void, what: string, sliceMs = sliceMsMax): void {
  const taken: number[] = [];
  for (let round = 0; round < 3; round++) {
    const takenMs = cpuTime();
    try {
      run();
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
    }
    taken.push(takenMs());
    if (taken.at(-1)! < sliceMs + stepMsMax) return;
  }
  assert.fail(`${what} takes ${Math.min(...taken)} ms`);
}

/** Formats a call of the overload; undefined for operators with special syntax. */
function callOf(name: string, { member }: Overload, args: readonly string[]): string | undefined {
  const [first = '', second = ''] = args;
  const operator = /^_(.+)_$/.exec(name)?.[1];
  if (operator !== undefined && operator !== '?_:' && args.length === 2 && !/[[\]?.]/.test(operator))
    return `${first} ${operator} ${second}`;
  if (name === '@in') return `${first} in ${second}`;
  if (name === '_[_]') return `${first}[${second}]`;
  if (/^[!\-@_]|@/.test(name)) return undefined;
  return member ? `${first}.${name}(${args.slice(1).join(', ')})` : `${name}(${args.join(', ')})`;
}

/** Combinations of arguments: each candidate once, beside varying other arguments. */
function combinations(overload: Overload): Argument[][] {
  const candidates = overload.params.map((type, index) => argumentsOf(type, index === 0));
  const count = Math.max(1, ...candidates.map((some) => some.length));
  const rounds = candidates.length > 1 ? count + 2 : count;
  return Array.from({ length: rounds }, (_, round) =>
    candidates.map((some, index) => some[(round + index * Math.floor(round / count)) % some.length]!),
  );
}

const loop = (call: string): string =>
  `lists.range(30).all(i, lists.range(30).all(j, optional.of(${call}).hasValue() || i + j >= 0))`;

describe('every function, in a loop over large arguments, ends within its budget', () => {
  for (const [name, overloads] of env.functions) {
    test(name, () => {
      for (const overload of overloads) {
        for (const args of combinations(overload)) {
          const sources = args.map(({ source }, index) => source.replace('$', `a${index}`));
          const call = callOf(name, overload, sources);
          if (call === undefined) continue;
          const values = Object.fromEntries(args.map(({ value }, index) => [`a${index}`, value]));
          const program = compile(loop(call), env, { lenient: true });
          const shown = Object.values(values).map((value) => String(value).slice(0, 20));
          const budget = (): WorkBudget => new WorkBudget({ sliceMs: shortSliceMs });
          assertBounded(
            () => void program.evaluate({ ...values, authorizer }, { budget: budget() }),
            `${overload.id}: ${call} over ${shown.join(', ')}`,
            shortSliceMs,
          );
        }
      }
    });
  }
});

describe('expressions that multiply end within their budget', () => {
  const evaluate = (source: string, bindings: CelBindings = {}): CelValue =>
    compile(source, env).evaluate({
      large: 'x'.repeat(1_000_000),
      text: 'x'.repeat(1_000_000),
      authorizer,
      ...bindings,
    }).value;
  const shared = (): CelBindings => {
    const variables = kubernetesEnvironment({ v: dynType });
    const compute = new Map<string, () => CelValue>();
    const v = new LazyMap('v', compute);
    const step =
      (source: string): (() => CelValue) =>
      () =>
        compile(source, variables).evaluate({ v }).value;
    compute.set('v0', () => 'x');
    for (let at = 1; at <= 60; at++) compute.set(`v${at}`, step(`[v.v${at - 1}, v.v${at - 1}]`));
    for (let at = 1; at <= 60; at++)
      compute.set(`w${at}`, step(at === 1 ? "['x', 'x']" : `[v.w${at - 1}, v.w${at - 1}]`));
    return { large: v };
  };
  const attacks: Readonly<Record<string, () => void>> = {
    'texts that double': () => void evaluate(`[1].map(a, ${'text + '.repeat(200)}text).map(b, b[0] == "")`),
    'lists that share their elements are compared': () => void evaluate('large.v60 == large.w60', shared()),
    'lists that share their elements are searched': () => void evaluate('large.v60.indexOf(large.w60)', shared()),
    'lists that share their elements are printed': () => void evaluate("'%s'.format([large.v60])", shared()),
    'lists that share their elements become JSON': () => {
      const value = evaluate('large.v60', shared());
      new WorkBudget().run(() => toJson(value));
    },
    'a long text in a long list of itself is printed': () =>
      void evaluate("'%s'.format([lists.range(1000).map(x, text)])"),
    'patterns that differ at every turn': () =>
      void evaluate("lists.range(5000).all(x, !'b'.matches('((a{10}){10}){9}' + string(x)))"),
    'zones that differ at every turn': () =>
      void evaluate(
        "lists.range(5000).all(x, timestamp(0).getHours('Etc/GMT+' + string(x % 12)) >= 0 || timestamp(0).getHours('nope' + string(x)) > 0)",
      ),
    'sums of lists that nest': () =>
      void evaluate(`lists.range(1000).map(x, ${'large + '.repeat(200)}large).size() > 0`, { large: ['x'] }),
    'texts compared with shorter ones': () => void evaluate(`lists.range(30000).all(x, text != 'xxxxxxxxxxxx')`),
  };
  for (const [name, attack] of Object.entries(attacks)) test(name, () => assertBounded(attack, name));
});

describe('compiling ends within its budget', () => {
  const bind = (count: number): string =>
    `[1]${Array.from({ length: count }, (_, at) => `.map(a${at}, {a${at}: a${at}})`).join('')}.size() > 0`;
  const sources: Readonly<Record<string, string>> = {
    'types that double': bind(60),
    'nested literals around a wide one': `${'['.repeat(200)}${'1,'.repeat(45_000)}large${']'.repeat(200)} == []`,
    'a hundred thousand characters of sums': `${'1 + '.repeat(240)}1 == 1 && [${'large.a, '.repeat(11_000)}1] == []`,
    'many selections': `${'large.a == 1 || '.repeat(200)}large.b == [${'large.b.c.d.e.f.g, '.repeat(5_000)}1]`,
    'nested macros': `${'large.all(a, '.repeat(60)}true${')'.repeat(60)}`,
    'macros that repeat their target': `${'['.repeat(8)}1${'].exists_one(a, [a].exists_one(b, a == b))'.repeat(1)}${']'.repeat(7)} == []`,
    'errors at every name': `[${'nope, '.repeat(16_000)}1]`,
    'a long literal': `'${'\\u00fc'.repeat(16_000)}' == text`,
    'patterns as literals': `[${`text.matches('((a{30}){30})'), `.repeat(2_500)}true] == []`,
    'maps of maps': `${'{1: '.repeat(200)}1${'}'.repeat(200)} == {}`,
    conditionals: `${'large ? 1 : '.repeat(200)}1 == 1`,
  };
  for (const [name, source] of Object.entries(sources)) {
    test(name, () => {
      assert.ok(source.length < 100_000, `${source.length}`);
      assertBounded(() => compile(source, env as Environment).estimatedCost, name);
    });
  }
});
