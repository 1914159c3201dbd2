/** Parses the query parameters of a request, with the types and error messages that clients expect. */

import { badRequest, quote } from '@hangar/api';

export class Query {
  readonly #values: URLSearchParams | undefined;

  constructor(text: string) {
    this.#values = text === '' ? undefined : new URLSearchParams(text);
  }

  /** Returns the first value; empty if there is none. */
  text(name: string): string {
    return this.#values?.get(name) ?? '';
  }

  has(name: string): boolean {
    return this.#values?.has(name) ?? false;
  }

  all(name: string): string[] {
    return this.#values?.getAll(name) ?? [];
  }

  /** Returns undefined if absent. Every value except `0` and `false`, including an empty one, is true, as in kube-apiserver. */
  flag(name: string): boolean | undefined {
    const value = this.#values?.get(name);
    if (value === undefined || value === null || value === '') return value === '' ? true : undefined;
    const lower = value.toLowerCase();
    return lower !== 'false' && lower !== '0';
  }

  integer(name: string): number | undefined {
    const value = this.text(name);
    if (value === '') return undefined;
    if (/^[+-]?\d+$/.test(value)) {
      const number = Number(value);
      if (Math.abs(number) <= 2 ** 63) return number;
      throw badRequest(`strconv.ParseInt: parsing ${quote(value)}: value out of range`);
    }
    throw badRequest(`strconv.ParseInt: parsing ${quote(value)}: invalid syntax`);
  }
}

/** Splits a target into path and query. */
export function splitTarget(target: string): { path: string; query: string } {
  const at = target.indexOf('?');
  return at < 0 ? { path: target, query: '' } : { path: target.slice(0, at), query: target.slice(at + 1) };
}
