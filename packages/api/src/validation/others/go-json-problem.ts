/** Returns the reason why Go cannot parse a text as a JSON object, with Go's message; undefined if it can. */

import { ApiError } from '../../errors.ts';
import { parseJson } from '../../json/parse.ts';

export function goJsonProblem(text: string): string | undefined {
  let value: unknown;
  try {
    ({ value } = parseJson(text));
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
  return `json: cannot unmarshal ${goTypeOf(value)} into Go value of type map[string]interface {}`;
}

function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
