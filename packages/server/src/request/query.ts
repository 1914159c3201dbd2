/** The parameters of a request: one reader for all verbs, with the types and error texts that clients expect. */

import { badRequest, quote } from '@hangar/api';

export class Query {
  readonly #values: URLSearchParams | undefined;

  constructor(text: string) {
    this.#values = text === '' ? undefined : new URLSearchParams(text);
  }

  /** The first value; empty when there is none. */
  text(name: string): string {
    return this.#values?.get(name) ?? '';
  }

  has(name: string): boolean {
    return this.#values?.has(name) ?? false;
  }

  all(name: string): string[] {
    return this.#values?.getAll(name) ?? [];
  }

  /** Absent and empty are undefined; anything but a boolean's opposite is true, as kube-apiserver reads it. */
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

/** Path and query of a target. */
export function splitTarget(target: string): { path: string; query: string } {
  const at = target.indexOf('?');
  return at < 0 ? { path: target, query: '' } : { path: target.slice(0, at), query: target.slice(at + 1) };
}
