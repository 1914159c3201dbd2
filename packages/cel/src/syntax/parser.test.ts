import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { CelError } from '../errors.ts';
import { celLibraries, compile, environment, kubernetesEnvironment, dynType } from '../index.ts';
import { sourceLengthMax } from '../limits.ts';
import { parse } from './parser.ts';

const env = environment({ libraries: celLibraries, variables: { a: dynType, x: dynType } });

/** Runs all stages that accept the text; only `CelError` may be thrown. */
function survive(source: string): void {
  try {
    const program = compile(source, env);
    void program.estimatedCost;
    program.evaluate({ a: { b: [1, 2, 3] }, x: 5 }, { costLimit: 10_000 });
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
  }
}

const deep: Readonly<Record<string, (levels: number) => string>> = {
  parentheses: (levels) => '('.repeat(levels) + '1' + ')'.repeat(levels),
  'open parentheses': (levels) => '('.repeat(levels),
  lists: (levels) => '['.repeat(levels) + ']'.repeat(levels),
  maps: (levels) => '{1:'.repeat(levels) + '1' + '}'.repeat(levels),
  calls: (levels) => 'f('.repeat(levels) + ')'.repeat(levels),
  indices: (levels) => 'a['.repeat(levels) + '1' + ']'.repeat(levels),
  ternaries: (levels) => 'a?1:'.repeat(levels) + '1',
  selections: (levels) => 'a' + '.b'.repeat(levels),
  sums: (levels) => '1' + '+1'.repeat(levels),
  macros: (levels) => 'a.all(x,'.repeat(levels) + 'true' + ')'.repeat(levels),
  structs: (levels) => 'A{b:'.repeat(levels) + '1' + '}'.repeat(levels),
};

describe('parser', () => {
  for (const [what, make] of Object.entries(deep)) {
    test(`very deep ${what} are a syntax error and not a stack overflow`, () => {
      for (const levels of [300, 10_000, 24_000])
        assert.throws(() => parse(make(levels), env.macros), { code: 'Syntax' });
    });
  }

  test('a hundred thousand parentheses are a syntax error', () => {
    assert.throws(() => parse('('.repeat(100_000), env.macros), { code: 'Syntax' });
  });

  test('long chains of negations do not nest', () => {
    assert.equal(compile('!'.repeat(2_000) + 'true', env).evaluate({}).value, true);
    assert.equal(compile('-'.repeat(2_000) + 'x', env).evaluate({ x: 5 }).value, 5);
  });

  test('a thousand alternatives are a shallow tree', () => {
    const source = Array.from({ length: 1_000 }, (_, index) => `x == ${index}`).join(' || ');
    assert.equal(compile(source, env).evaluate({ x: 999 }).value, true);
  });

  test('too long a text is refused before it is looked at', () => {
    assert.throws(() => parse(' '.repeat(sourceLengthMax + 1), env.macros), { code: 'Syntax' });
  });

  test('macros that repeat their target cannot multiply without bound', () => {
    const chain = 'optional.of(1)' + '.optMap(v, v + 1)'.repeat(40);
    assert.throws(() => compile(chain, env), { code: 'Syntax' });
  });

  test('errors carry line, column and the line with a caret', () => {
    const error = (() => {
      try {
        compile('a ==\n  nope', env);
      } catch (thrown) {
        return thrown as CelError;
      }
      return undefined;
    })();
    assert.equal(error?.code, 'Type');
    assert.deepEqual(error.issues, [
      { message: "undeclared reference to 'nope' (in container '')", line: 2, column: 3 },
    ]);
    assert.equal(
      error.message,
      "ERROR: <input>:2:3: undeclared reference to 'nope' (in container '')\n |   nope\n | ..^",
    );
  });

  test('any text at all either works or is a CelError', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), survive), { numRuns: 1_000 });
  });

  test('any heap of tokens either works or is a CelError', () => {
    const tokens =
      'a x true null 1 1u 2.5 "s" b"s" r"\\d" 9223372036854775807 ( ) [ ] { } . , ? : ! - + * / % == != < <= && || in .? [? has( .all( .map( .exists( size( dyn( type( optional.of( .matches( duration( int( string( .b `b` as\n'.split(
        ' ',
      );
    const soup = fc.array(fc.constantFrom(...tokens), { maxLength: 25 }).map((parts) => parts.join(' '));
    fc.assert(fc.property(soup, survive), { numRuns: 2_000 });
  });

  test('well-formed expressions over random data give a value or a CelError', () => {
    const { expr } = fc.letrec<{ expr: string }>((tie) => ({
      expr: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('x', 'a', 'a.b', '1', '-1', '2u', '1.5', '"s"', 'true', 'null', '[1, 2]', '{"k": 1}', 'b"x"'),
        fc
          .tuple(
            tie('expr'),
            fc.constantFrom('+', '-', '*', '/', '%', '==', '!=', '<', '>=', '&&', '||', 'in'),
            tie('expr'),
          )
          .map(([left, operator, right]) => `(dyn(${left}) ${operator} dyn(${right}))`),
        fc.tuple(tie('expr'), tie('expr'), tie('expr')).map(([c, t, f]) => `(dyn(${c}) ? dyn(${t}) : dyn(${f}))`),
        fc
          .tuple(tie('expr'), fc.constantFrom('all', 'exists', 'map', 'filter', 'exists_one'), tie('expr'))
          .map(([range, macro, body]) => `dyn(${range}).${macro}(x, dyn(${body}))`),
        tie('expr').map((inner) => `string(dyn(${inner}))`),
        fc.tuple(tie('expr'), tie('expr')).map(([of, at]) => `dyn(${of})[dyn(${at})]`),
      ),
    }));
    fc.assert(
      fc.property(expr, fc.json(), (source, json) => {
        try {
          compile(source, env).evaluate(
            { x: JSON.parse(json) as unknown, a: { b: [1, 2, 3] } },
            { costLimit: 100_000 },
          );
        } catch (error) {
          if (!(error instanceof CelError)) throw error;
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('Kubernetes has no cel.bind, as it has none there', () => {
    assert.throws(() => compile('cel.bind(v, 1, v)', kubernetesEnvironment({})), { code: 'Type' });
  });
});
