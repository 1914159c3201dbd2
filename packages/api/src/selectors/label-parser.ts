/** From the text of a label selector to its requirements, with kube-apiserver's complaints. */

import { fieldErrorText } from '../status/field-error.ts';
import { badRequest } from '../status/status.ts';
import { sortKeys } from '../values/key-order.ts';
import { labelTokens } from './label-lexer.ts';
import type { LabelToken, LabelTokenType } from './label-lexer.ts';
import { binaryOperators, labelKeyProblem, LabelRequirement, requirementProblem } from './label-requirement.ts';
import type { LabelOperator } from './label-requirement.ts';

const operators: Partial<Record<LabelTokenType, LabelOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};

/** In the order of the text. */
export function parseRequirements(text: string): LabelRequirement[] {
  return text === '' ? [] : new LabelParser(labelTokens(text)).parse();
}

class LabelParser {
  readonly #tokens: readonly LabelToken[];
  #at = 0;

  constructor(tokens: readonly LabelToken[]) {
    this.#tokens = tokens;
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#peek().type === 'end') return requirements;
    if (!this.#startsRequirement()) {
      throw badRequest(`found '${this.#peek().text}', expected: !, identifier, or 'end of string'`);
    }
    for (;;) {
      requirements.push(this.#requirement());
      const separator = this.#next();
      if (separator.type === 'end') return requirements;
      if (separator.type !== ',') throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
      if (!this.#startsRequirement()) {
        throw badRequest(`found '${this.#peek().text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelRequirement {
    const isNegated = this.#peek().type === '!';
    if (isNegated) this.#next();
    const key = this.#next();
    if (!isName(key)) throw unparsable(`found '${key.text}', expected: identifier`);
    const problem = labelKeyProblem(key.text, '<nil>');
    if (problem) throw unparsable(fieldErrorText(problem));
    if (isNegated) return valid(new LabelRequirement(key.text, '!', []));
    const following = this.#peek().type;
    if (following === 'end' || following === ',') return valid(new LabelRequirement(key.text, 'exists', []));
    const operator = this.#operator();
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()];
    return valid(new LabelRequirement(key.text, operator, sortKeys([...new Set(values)])));
  }

  #operator(): LabelOperator {
    const { type, text } = this.#next();
    const operator = operators[type];
    if (operator === undefined) throw unparsable(`found '${text}', expected: ${binaryOperators.join(', ')}`);
    return operator;
  }

  /** Nothing is the empty value. */
  #value(): string {
    const { type } = this.#peek();
    if (type === 'end' || type === ',') return '';
    const token = this.#next();
    if (!isName(token)) throw unparsable(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  /** `(a, b)`; a missing value between commas is empty. */
  #values(): string[] {
    const open = this.#next();
    if (open.type !== '(') throw unparsable(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.type !== ',' && first.type !== ')' && !isName(first)) {
      throw unparsable(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values: string[] = [];
    for (;;) {
      const { type } = this.#peek();
      values.push(type === ',' || type === ')' ? '' : this.#listed());
      const separator = this.#next();
      if (separator.type === ')') return values;
      if (separator.type !== ',') throw unparsable(`found '${separator.text}', expected: ',' or ')'`);
    }
  }

  #listed(): string {
    const token = this.#next();
    if (!isName(token)) throw unparsable(`found '${token.text}', expected: ',', or identifier`);
    return token.text;
  }

  #startsRequirement(): boolean {
    return this.#peek().type === '!' || isName(this.#peek());
  }

  #peek(): LabelToken {
    return this.#tokens[this.#at] ?? this.#tokens.at(-1)!;
  }

  #next(): LabelToken {
    const token = this.#peek();
    this.#at++;
    return token;
  }
}

/** `in` and `notin` are ordinary identifiers where no operator is expected. */
const isName = ({ type }: LabelToken): boolean => type === 'identifier' || type === 'in' || type === 'notin';

const unparsable = (problem: string): Error => badRequest(`unable to parse requirement: ${problem}`);

function valid(requirement: LabelRequirement): LabelRequirement {
  const problem = requirementProblem(requirement);
  if (problem !== undefined) throw unparsable(problem);
  return requirement;
}
