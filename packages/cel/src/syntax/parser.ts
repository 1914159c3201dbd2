/**
 * Parses tokens to a tree: precedence climbing for the binary operators, recursive descent for the rest. Recursion is counted, so a hundred
 * thousand parentheses are an error and not a stack overflow; chains that need no recursion here (`a.b.c`, `1+1+1`) are bounded by the
 * height of the tree they build.
 */

import { CelError } from '../errors.ts';
import { depthMax, sourceLengthMax, weightMax } from '../limits.ts';
import { build } from './ast.ts';
import type { Expr, ListExpr, MapExpr, StructExpr } from './ast.ts';
import { tokenize } from './lexer.ts';
import type { Token } from './lexer.ts';
import { macroKey } from './macro.ts';
import type { Macros } from './macro.ts';
import { toInt64Literal } from './numbers.ts';
import { formatIssues, issuesOf, LexicalError } from './source.ts';

/** Tokens that an expression can begin with, as kube-apiserver's messages list them. */
const expressionStart =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while in true false null'.split(
    ' ',
  ),
);

/** Binary operators by precedence; `&&` and `||` are separate, because they build balanced trees. */
const binary: Readonly<Record<string, { precedence: number; fn: string }>> = Object.assign(Object.create(null), {
  '==': { precedence: 1, fn: '_==_' },
  '!=': { precedence: 1, fn: '_!=_' },
  '<': { precedence: 1, fn: '_<_' },
  '<=': { precedence: 1, fn: '_<=_' },
  '>': { precedence: 1, fn: '_>_' },
  '>=': { precedence: 1, fn: '_>=_' },
  in: { precedence: 1, fn: '@in' },
  '+': { precedence: 2, fn: '_+_' },
  '-': { precedence: 2, fn: '_-_' },
  '*': { precedence: 3, fn: '_*_' },
  '/': { precedence: 3, fn: '_/_' },
  '%': { precedence: 3, fn: '_%_' },
});

/** Throws only `CelError` with code `Syntax`. */
export function parse(source: string, macros: Macros): Expr {
  if (source.length > sourceLengthMax) {
    throw new CelError(
      'Syntax',
      `expression code point size exceeds limit: size: ${source.length}, limit ${sourceLengthMax}`,
    );
  }
  try {
    return new Parser(source, macros).parse();
  } catch (error) {
    if (!(error instanceof LexicalError)) throw error;
    const issues = issuesOf(source, [error.problem]);
    throw new CelError('Syntax', formatIssues(source, issues), issues);
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #macros: Macros;
  #at = 0;
  #depth = 0;

  constructor(source: string, macros: Macros) {
    this.#tokens = tokenize(source);
    this.#macros = macros;
  }

  parse(): Expr {
    const expr = this.#expression();
    if (this.#token.kind !== 'end') this.#unexpected('<EOF>');
    if (expr.depth > depthMax) throw new LexicalError(0, 'max recursion depth exceeded');
    return expr;
  }

  get #token(): Token {
    return this.#tokens[this.#at]!;
  }

  #next(): Token {
    return this.#tokens[this.#at++]!;
  }

  #is(operator: string): boolean {
    return this.#token.kind === 'operator' && this.#token.text === operator;
  }

  #accept(operator: string): Token | undefined {
    return this.#is(operator) ? this.#next() : undefined;
  }

  #expect(operator: string): Token {
    return this.#accept(operator) ?? this.#unexpected(`'${operator}'`);
  }

  #unexpected(expected: string): never {
    const { text, offset } = this.#token;
    throw new LexicalError(offset, `Syntax error: mismatched input '${text}' expecting ${expected}`);
  }

  /** Guards every recursive call of `read`. */
  #nested<Result>(read: () => Result): Result {
    if (++this.#depth > depthMax) throw new LexicalError(this.#token.offset, 'max recursion depth exceeded');
    const result = read();
    this.#depth -= 1;
    return result;
  }

  #expression(): Expr {
    return this.#nested(() => {
      const condition = this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#relation(1)));
      const question = this.#accept('?');
      if (!question) return condition;
      const whenTrue = this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#relation(1)));
      this.#expect(':');
      return build.call(question.offset, '_?_:_', [condition, whenTrue, this.#expression()]);
    });
  }

  /** `a || b || c || d` as a balanced tree: a thousand alternatives are ten levels, not a thousand. */
  #logical(operator: string, fn: string, read: () => Expr): Expr {
    const terms = [read()];
    const offsets: number[] = [];
    for (let sign = this.#accept(operator); sign; sign = this.#accept(operator)) {
      offsets.push(sign.offset);
      terms.push(read());
    }
    const balance = (low: number, high: number): Expr => {
      const middle = (low + high + 1) >> 1;
      const left = middle === low ? terms[middle]! : balance(low, middle - 1);
      const right = middle === high ? terms[middle + 1]! : balance(middle + 1, high);
      return build.call(offsets[middle]!, fn, [left, right]);
    };
    return offsets.length === 0 ? terms[0]! : balance(0, offsets.length - 1);
  }

  #relation(minimum: number): Expr {
    let left = this.#unary();
    for (;;) {
      const { kind, text, offset } = this.#token;
      const operator = kind === 'operator' || text === 'in' ? binary[text] : undefined;
      if (operator === undefined || operator.precedence < minimum) return left;
      this.#at += 1;
      left = build.call(offset, operator.fn, [left, this.#relation(operator.precedence + 1)]);
    }
  }

  #unary(): Expr {
    const { kind, text, offset } = this.#token;
    if (kind !== 'operator' || (text !== '!' && text !== '-')) return this.#member();
    let count = 0;
    while (this.#accept(text)) count += 1;
    if (text === '-' && count === 1) {
      const digits = this.#token;
      if (digits.kind === 'int') {
        this.#at += 1;
        return this.#postfix(build.constant(offset, toInt64Literal(digits.text, true, offset)));
      }
      if (digits.kind === 'literal' && /^[\d.]/.test(digits.text) && !/[uU]$/.test(digits.text)) {
        this.#at += 1;
        return this.#postfix(build.constant(offset, negated(digits)));
      }
    }
    if (this.#is('-') || this.#is('!')) this.#unexpected('an operand');
    const operand = this.#nested(() => this.#member());
    // `!!x` is x and `--x` is x.
    return count % 2 === 0 ? operand : build.call(offset, text === '!' ? '!_' : '-_', [operand]);
  }

  #member(): Expr {
    return this.#postfix(this.#primary());
  }

  #postfix(start: Expr): Expr {
    let expr = start;
    for (;;) {
      const { offset } = this.#token;
      if (this.#accept('.')) {
        expr = this.#selection(expr, offset);
      } else if (this.#accept('[')) {
        const optional = this.#accept('?') !== undefined;
        const index = this.#expression();
        this.#expect(']');
        expr = build.call(offset, optional ? '_[?_]' : '_[_]', [expr, index]);
      } else if (this.#is('{')) {
        const name = messageName(expr);
        if (name === undefined) this.#unexpected('<EOF>');
        expr = this.#struct(name);
      } else {
        return expr;
      }
    }
  }

  #selection(operand: Expr, offset: number): Expr {
    if (this.#accept('?')) {
      const field = this.#fieldName();
      return build.call(offset, '_?._', [operand, build.constant(offset, field)]);
    }
    const quoted = this.#token.kind === 'quoted';
    const field = this.#fieldName();
    const paren = quoted ? undefined : this.#accept('(');
    return paren ? this.#call(paren.offset, field, operand) : build.select(offset, operand, field);
  }

  /** Reserved words are allowed after a dot, except literals and operators. */
  #fieldName(): string {
    const { kind, text } = this.#token;
    if (kind === 'quoted') {
      this.#at += 1;
      return text.slice(1, -1);
    }
    if (kind === 'end') {
      throw new LexicalError(
        this.#token.offset,
        `Syntax error: no viable alternative at input '${this.#tokens[this.#at - 1]!.text}'`,
      );
    }
    if (kind !== 'ident' || text === 'in' || text === 'true' || text === 'false' || text === 'null') {
      this.#unexpected('IDENTIFIER');
    }
    this.#at += 1;
    return text;
  }

  #primary(): Expr {
    const token = this.#next();
    const { kind, text, offset } = token;
    switch (kind) {
      case 'int':
        return build.constant(offset, toInt64Literal(text, false, offset));
      case 'literal':
        return build.constant(offset, token.value!);
      case 'ident':
        return this.#identifier(text, offset);
      case 'operator':
        if (text === '(') {
          const inner = this.#expression();
          this.#expect(')');
          return inner;
        }
        if (text === '[') return this.#list(offset);
        if (text === '{') return this.#map(offset);
        if (text === '.' && this.#token.kind === 'ident') {
          const name = this.#next();
          return this.#identifier(`.${name.text}`, offset);
        }
    }
    this.#at -= 1;
    return this.#unexpected(expressionStart);
  }

  #identifier(text: string, offset: number): Expr {
    if (text === 'true' || text === 'false') return build.constant(offset, text === 'true');
    if (text === 'null') return build.constant(offset, null);
    if (reserved.has(text)) throw new LexicalError(offset, `reserved identifier: ${text}`);
    const paren = this.#accept('(');
    return paren ? this.#call(paren.offset, text, undefined) : build.ident(offset, text);
  }

  #call(offset: number, fn: string, target: Expr | undefined): Expr {
    const args: Expr[] = [];
    while (!this.#is(')')) {
      args.push(this.#expression());
      if (!this.#accept(',')) break;
      if (this.#is(')')) this.#unexpected(expressionStart);
    }
    this.#expect(')');
    const macro =
      this.#macros.get(macroKey(fn, args.length, target !== undefined)) ??
      this.#macros.get(macroKey(fn, '*', target !== undefined));
    const expr = macro?.(offset, args, target) ?? build.call(offset, fn, args, target);
    if (expr.weight > weightMax) throw new LexicalError(offset, 'expression expands to too many nodes');
    return expr;
  }

  #list(offset: number): Expr {
    const elements: ListExpr['elements'][number][] = [];
    while (!this.#is(']')) {
      const optional = this.#accept('?') !== undefined;
      elements.push({ value: this.#expression(), optional });
      if (!this.#accept(',')) break;
    }
    this.#expect(']');
    return build.list(offset, elements);
  }

  #map(offset: number): Expr {
    const entries: MapExpr['entries'][number][] = [];
    while (!this.#is('}')) {
      const optional = this.#accept('?') !== undefined;
      const key = this.#expression();
      this.#expect(':');
      entries.push({ key, value: this.#expression(), optional });
      if (!this.#accept(',')) break;
    }
    this.#expect('}');
    return build.map(offset, entries);
  }

  #struct(name: string): Expr {
    const { offset } = this.#expect('{');
    const fields: StructExpr['fields'][number][] = [];
    while (!this.#is('}')) {
      const optional = this.#accept('?') !== undefined;
      const field = this.#fieldName();
      const colon = this.#expect(':');
      fields.push({ name: field, value: this.#expression(), optional, offset: colon.offset });
      if (!this.#accept(',')) break;
    }
    this.#expect('}');
    return build.struct(offset, name, fields);
  }
}

function negated(literal: Token): NonNullable<Token['value']> {
  return new (literal.value!.constructor as new (value: number) => NonNullable<Token['value']>)(-Number(literal.text));
}

/** Returns `a.b.C` before `{`, if the tree has that form. */
function messageName(expr: Expr): string | undefined {
  const parts: string[] = [];
  let at: Expr = expr;
  for (; at.kind === 'select' && !at.testOnly; at = at.operand) parts.unshift(at.field);
  return at.kind === 'ident' ? [at.name, ...parts].join('.') : undefined;
}
