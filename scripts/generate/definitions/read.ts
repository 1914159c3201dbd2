/**
 * Reads files of types: a header comment, `import type`, `export interface`, `export type`, and nothing else. TypeScript 7 has no
 * stable interface for programs, and this is all that definitions are made of: what is not understood fails, it is never left out.
 *
 *     file       = header { import | interface | alias }
 *     import     = 'import' 'type' '{' names '}' 'from' string ';'
 *     interface  = [doc] 'export' 'interface' name [ 'extends' name ] '{' { member } '}'
 *     alias      = [doc] 'export' 'type' name '=' type ';'
 *     member     = [doc] ['readonly'] name ['?'] ':' type ';'
 *     type       = ['|'] list { '|' list }
 *     list       = one { '[' ']' }
 *     one        = 'string' | 'number' | 'boolean' | string | name | 'Record' '<' 'string' ',' type '>' | '(' type ')'
 */

import { docOf, noDoc } from './doc.ts';
import type { Doc } from './doc.ts';
import { SourceError, tokensOf } from './tokens.ts';
import type { Token, TokenKind } from './tokens.ts';

export type TypeNode =
  | { readonly is: 'string' | 'number' | 'boolean' }
  | { readonly is: 'literal'; readonly value: string }
  | { readonly is: 'name'; readonly name: string }
  | { readonly is: 'union'; readonly of: readonly TypeNode[] }
  | { readonly is: 'list' | 'record'; readonly of: TypeNode };

export interface Place {
  readonly file: string;
  readonly line: number;
}

export interface Member extends Place {
  readonly name: string;
  readonly isOptional: boolean;
  readonly type: TypeNode;
  readonly doc: Doc;
}

export interface Declaration extends Place {
  readonly name: string;
  readonly doc: Doc;
  readonly extends?: string;
  /** Of an interface. */
  readonly members?: readonly Member[];
  /** Of an alias. */
  readonly type?: TypeNode;
}

/** Throws `SourceError`. */
export const readTypes = (file: string, source: string): Declaration[] => new Reader(file, source).all();

class Reader {
  readonly #file: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(file: string, source: string) {
    this.#file = file;
    this.#tokens = tokensOf(file, source);
  }

  all(): Declaration[] {
    this.#expect('doc', undefined, 'a header comment');
    const all: Declaration[] = [];
    while (!this.#is('end')) {
      if (this.#is('word', 'import')) this.#import();
      else all.push(this.#declaration());
    }
    return all;
  }

  #import(): void {
    for (const word of ['import', 'type']) this.#expect('word', word);
    this.#expect('mark', '{');
    do this.#expect('word', undefined, 'a name');
    while (this.#skip(',') && !this.#is('mark', '}'));
    this.#expect('mark', '}');
    this.#expect('word', 'from');
    this.#expect('string', undefined, 'a module');
    this.#expect('mark', ';');
  }

  #declaration(): Declaration {
    const doc = this.#doc();
    this.#expect('word', 'export');
    const { line } = this.#next;
    const isInterface = this.#is('word', 'interface');
    this.#expect('word', isInterface ? 'interface' : 'type');
    const name = this.#expect('word', undefined, 'a name');
    const place = { file: this.#file, line };
    if (!isInterface) {
      this.#expect('mark', '=');
      const type = this.#type();
      this.#expect('mark', ';');
      return { ...place, name, doc, type };
    }
    const base = this.#is('word', 'extends') && this.#expect('word') && this.#expect('word', undefined, 'a name');
    this.#expect('mark', '{');
    const members: Member[] = [];
    while (!this.#skip('}')) members.push(this.#member());
    return { ...place, name, doc, members, ...(base ? { extends: base } : {}) };
  }

  #member(): Member {
    const doc = this.#doc();
    const { line } = this.#next;
    if (this.#is('word', 'readonly')) this.#expect('word');
    const name = this.#expect('word', undefined, 'a member');
    const isOptional = this.#skip('?');
    this.#expect('mark', ':');
    const type = this.#type();
    this.#expect('mark', ';');
    return { file: this.#file, line, name, isOptional, type, doc };
  }

  #type(): TypeNode {
    this.#skip('|');
    const of = [this.#list()];
    while (this.#skip('|')) of.push(this.#list());
    return of.length === 1 ? of[0]! : { is: 'union', of };
  }

  #list(): TypeNode {
    let type = this.#one();
    while (this.#skip('[')) {
      this.#expect('mark', ']');
      type = { is: 'list', of: type };
    }
    return type;
  }

  #one(): TypeNode {
    if (this.#is('string')) return { is: 'literal', value: this.#expect('string') };
    if (this.#skip('(')) {
      const type = this.#type();
      this.#expect('mark', ')');
      return type;
    }
    const name = this.#expect('word', undefined, 'a type');
    if (name === 'string' || name === 'number' || name === 'boolean') return { is: name };
    if (name !== 'Record') return { is: 'name', name };
    this.#expect('mark', '<');
    this.#expect('word', 'string');
    this.#expect('mark', ',');
    const of = this.#type();
    this.#expect('mark', '>');
    return { is: 'record', of };
  }

  #doc(): Doc {
    return this.#is('doc') ? docOf(this.#expect('doc')) : noDoc;
  }

  get #next(): Token {
    return this.#tokens[this.#at]!;
  }

  #is(kind: TokenKind, text?: string): boolean {
    return this.#next.kind === kind && (text === undefined || this.#next.text === text);
  }

  #skip(mark: string): boolean {
    if (!this.#is('mark', mark)) return false;
    this.#at++;
    return true;
  }

  #expect(kind: TokenKind, text?: string, what = `"${text ?? kind}"`): string {
    const token = this.#next;
    if (!this.#is(kind, text)) {
      throw new SourceError(this.#file, token.line, `expected ${what}, found "${token.text || token.kind}"`);
    }
    this.#at++;
    return token.text;
  }
}
