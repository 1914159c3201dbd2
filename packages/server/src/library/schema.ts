/**
 * Schemas of a kind's fields, with the TypeScript type that they describe:
 *
 *   const fields = object({ spec: object({ title: string({ maxLength: 80 }), tags: optional(list(string())) }) });
 *   type Fields = TypeOf<typeof fields>;   // { spec: { title: string; tags?: string[] } }
 *
 * The result is an ordinary structural OpenAPI schema; keywords without a parameter here are passed through.
 */

import type { JsonSchema } from '@hangar/api/crd';

declare const described: unique symbol;

export interface Schema<T> {
  readonly openApi: JsonSchema;
  readonly isOptional?: boolean;
  /** Exists only for the compiler. */
  readonly [described]?: T;
}

interface Optional<T> extends Schema<T> {
  readonly isOptional: true;
}

export type TypeOf<S> = S extends Schema<infer T> ? T : never;

type Keywords = Readonly<Omit<JsonSchema, 'type' | 'properties' | 'items' | 'required' | 'additionalProperties'>>;

const schema = <T>(openApi: object): Schema<T> => ({ openApi: openApi as JsonSchema });

export const string = <T extends string = string>(keywords: Keywords = {}): Schema<T> =>
  schema({ type: 'string', ...keywords });
export const integer = (keywords: Keywords = {}): Schema<number> => schema({ type: 'integer', ...keywords });
export const number = (keywords: Keywords = {}): Schema<number> => schema({ type: 'number', ...keywords });
export const boolean = (keywords: Keywords = {}): Schema<boolean> => schema({ type: 'boolean', ...keywords });

/** A string with one of these values. */
export const oneOf = <const T extends string>(...values: readonly T[]): Schema<T> =>
  schema({ type: 'string', enum: values });

export const list = <T>(items: Schema<T>, keywords: Keywords = {}): Schema<T[]> =>
  schema({ type: 'array', items: items.openApi, ...keywords });

/** A map with arbitrary keys and values of one schema. */
export const map = <T>(values: Schema<T>, keywords: Keywords = {}): Schema<Record<string, T>> =>
  schema({ type: 'object', additionalProperties: values.openApi, ...keywords });

/** Any JSON value. */
export const anything = (keywords: Keywords = {}): Schema<unknown> =>
  schema({ 'x-kubernetes-preserve-unknown-fields': true, ...keywords });

export const optional = <T>(of: Schema<T>): Optional<T> => ({ ...of, isOptional: true });

type Fields = Readonly<Record<string, Schema<unknown>>>;
type Required<F extends Fields> = { [K in keyof F as F[K] extends Optional<unknown> ? never : K]: TypeOf<F[K]> };
type Possible<F extends Fields> = { [K in keyof F as F[K] extends Optional<unknown> ? K : never]?: TypeOf<F[K]> };

export function object<const F extends Fields>(fields: F, keywords: Keywords = {}): Schema<Required<F> & Possible<F>> {
  const all = Object.entries(fields);
  const required = all.flatMap(([name, { isOptional }]) => (isOptional ? [] : [name]));
  return schema({
    type: 'object',
    properties: Object.fromEntries(all.map(([name, { openApi }]) => [name, openApi])),
    ...(required.length > 0 ? { required } : {}),
    ...keywords,
  });
}
