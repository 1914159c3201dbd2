/**
 * Reads untrusted documents: every value has the requested type, is absent, or causes an error that names the file and the field. `null`
 * counts as absent, as in the decoder of Go.
 */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api';
import { ClientError } from '../errors.ts';

export class Fields {
  readonly #object: JsonObject;
  /** `file: users[admin].user`. */
  readonly where: string;

  constructor(value: unknown, where: string) {
    if (!isObject(value)) throw new ClientError('InvalidKubeconfig', `${where}: expected an object`);
    this.#object = value;
    this.where = where;
  }

  /** Returns undefined for an empty text too: in kubeconfigs it means "not set". */
  text(name: string): string | undefined {
    const value = this.#value(name);
    if (value === undefined || value === '') return undefined;
    if (typeof value !== 'string') throw this.error(name, 'expected a string');
    return value;
  }

  flag(name: string): boolean {
    const value = this.#value(name) ?? false;
    if (typeof value !== 'boolean') throw this.error(name, 'expected true or false');
    return value;
  }

  texts(name: string): string[] {
    return this.#list(name).map((value, at) => {
      if (typeof value !== 'string') throw this.error(`${name}[${at}]`, 'expected a string');
      return value;
    });
  }

  /** Reads lists by name, such as `as-user-extra`. */
  textsByName(name: string): Record<string, string[]> {
    const fields = this.object(name);
    if (fields === undefined) return {};
    return Object.fromEntries(Object.keys(fields.#object).map((key) => [key, fields.texts(key)]));
  }

  object(name: string): Fields | undefined {
    const value = this.#value(name);
    return value === undefined ? undefined : new Fields(value, this.#nameOf(name));
  }

  objects(name: string): Fields[] {
    return this.#list(name).map((value, at) => new Fields(value, `${this.#nameOf(name)}[${at}]`));
  }

  /** Returns the value without a check. */
  any(name: string): unknown {
    return this.#value(name);
  }

  /** Returns the same object with another name for messages. */
  as(where: string): Fields {
    return new Fields(this.#object, where);
  }

  error(name: string, problem: string, cause?: unknown): ClientError {
    const options = cause === undefined ? undefined : { cause };
    return new ClientError('InvalidKubeconfig', `${this.#nameOf(name)}: ${problem}`, options);
  }

  #list(name: string): readonly unknown[] {
    const value = this.#value(name) ?? [];
    if (!Array.isArray(value)) throw this.error(name, 'expected a list');
    return value as unknown[];
  }

  #value(name: string): unknown {
    return Object.hasOwn(this.#object, name) ? (this.#object[name] ?? undefined) : undefined;
  }

  #nameOf(name: string): string {
    return `${this.where}${this.where.endsWith(':') ? ' ' : '.'}${name}`;
  }
}
