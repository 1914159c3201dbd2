/**
 * The result of checking a value against a schema: errors, and how much of the schema matched. When no alternative of an `anyOf` or `oneOf`
 * matches, the errors of the one that matched most are shown.
 */

import { invalid } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { errorsMax } from '../bounded-errors.ts';

export class Report {
  errors: FieldError[] = [];
  matches = 0;
  /** Path of the checked value; names in messages begin below it. */
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  get isValid(): boolean {
    return this.errors.length === 0;
  }

  add(error: FieldError): void {
    if (this.errors.length < errorsMax) this.errors.push(error);
  }

  /** Adds an error about the value as a whole, without a path: Kubernetes shows the missing path as `<nil>`. */
  addPlaceless(message: string): void {
    this.add(invalid(this.prefix === '' ? nilPath : this.prefix, '', message));
  }

  merge(other: Report): void {
    for (const error of other.errors) this.add(error);
    this.matches += other.matches;
  }

  /** Returns the path of a field, from the name in messages: `.a` and `a` are the same, and the root has none. */
  pathOf(name: string): string {
    const below = name.startsWith('.') ? name.slice(1) : name;
    if (below === '') return this.prefix === '' ? nilPath : this.prefix;
    return this.prefix === '' ? below : `${this.prefix}.${below}`;
  }

  /** Returns the errors without duplicates. */
  distinct(): FieldError[] {
    if (this.errors.length < 2) return this.errors;
    // Details may be long and shared by many errors: they are not concatenated.
    const seen = new Map<string, Set<string>>();
    return this.errors.filter(({ type, path, detail }) => {
      const id = `${type} ${path}`;
      const details = seen.get(id);
      if (details === undefined) seen.set(id, new Set([detail]));
      else if (details.has(detail)) return false;
      else details.add(detail);
      return true;
    });
  }
}

/** Path of the root in Kubernetes' messages. */
export const nilPath = '<nil>';
