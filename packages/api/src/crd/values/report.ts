/**
 * What checking a value against a schema found: errors, and how much of the schema matched. When no alternative of an
 * `anyOf` or `oneOf` fits, the errors of the one that matched most are shown.
 */

import { invalid } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { errorsMax } from '../bounded-errors.ts';

export class Report {
  errors: FieldError[] = [];
  matches = 0;
  /** Where the checked value stands; names in messages begin below it. */
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

  /** About the value as a whole, without a place: Kubernetes shows the missing path as `<nil>`. */
  addPlaceless(message: string): void {
    this.add(invalid(this.prefix === '' ? nilPath : this.prefix, '', message));
  }

  merge(other: Report): void {
    for (const error of other.errors) this.add(error);
    this.matches += other.matches;
  }

  /** The path of a field, from the name that messages use: `.a` and `a` are one, and the root has none. */
  pathOf(name: string): string {
    const below = name.startsWith('.') ? name.slice(1) : name;
    if (below === '') return this.prefix === '' ? nilPath : this.prefix;
    return this.prefix === '' ? below : `${this.prefix}.${below}`;
  }

  /** Each message once. */
  distinct(): FieldError[] {
    if (this.errors.length < 2) return this.errors;
    // Details may be long and shared by many errors: they are not joined to anything.
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

/** How Kubernetes writes the path of a root. */
export const nilPath = '<nil>';
