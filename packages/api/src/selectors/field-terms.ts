/** The text of a field selector: `status.phase!=Running,metadata.name=a\,b`. */

import { badRequest } from '../status/status.ts';
import { sortKeys } from '../values/key-order.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** In kube-apiserver's order, that of the terms' texts. Throws a BadRequest with the reason. */
export function parseFieldRequirements(text: string): FieldRequirement[] {
  return sortKeys(splitTerms(text))
    .filter((term) => term !== '')
    .map((term) => parseTerm(term, text))
    .filter(({ field, value }) => field !== '' || value !== '');
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function parseTerm(term: string, whole: string): FieldRequirement {
  const operator = /!=|==|=/.exec(term);
  if (!operator) throw badRequest(`invalid selector: '${whole}'; can't understand '${term}'`);
  return {
    field: term.slice(0, operator.index),
    operator: operator[0] === '!=' ? '!=' : '=',
    value: unescapeValue(term.slice(operator.index + operator[0].length)),
  };
}

/** In values, a backslash escapes commas, equals signs and itself. */
function unescapeValue(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  return text.replace(/\\(.?)|[,=]/gsu, (found, escaped: string | undefined) => {
    if (escaped === undefined) {
      throw badRequest(`invalid field selector: unescaped character in value: ${found.charCodeAt(0)}`);
    }
    if (escaped === '' || !'\\,='.includes(escaped)) {
      throw badRequest(`invalid field selector: invalid escape sequence: ${found}`);
    }
    return escaped;
  });
}

export const fieldRequirementText = ({ field, operator, value }: FieldRequirement): string =>
  `${field}${operator}${value.replace(/[\\,=]/g, '\\$&')}`;
