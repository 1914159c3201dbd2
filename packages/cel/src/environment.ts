/**
 * Declarations for expressions. An environment is created once per place of expressions (a schema, a policy) and shared by all of them; it
 * is immutable.
 */

import type { Macro, Macros } from './syntax/macro.ts';
import { typeOf } from './types.ts';
import type { ObjectType, Type } from './types.ts';
import type { CelValue } from './values/values.ts';

/** Arguments have the types of the parameters: the caller has checked them. A method's target comes first. */
export type Implementation = (...args: never[]) => CelValue;

export interface Overload {
  readonly id: string;
  readonly member: boolean;
  readonly params: readonly Type[];
  readonly result: Type;
  readonly run: Implementation;
}

export interface Library {
  readonly name: string;
  readonly functions?: Readonly<Record<string, readonly Overload[]>>;
  readonly macros?: Macros;
  /** Types that expressions can name. */
  readonly types?: readonly Type[];
  /** Message types that are derived from their name instead of listed. */
  readonly structType?: (name: string) => ObjectType | undefined;
  /** Constants that expressions can name. */
  readonly constants?: Readonly<Record<string, { readonly type: Type; readonly value: CelValue }>>;
}

export interface EnvironmentOptions {
  readonly libraries: readonly Library[];
  readonly variables?: Readonly<Record<string, Type>>;
  /** Names are also looked up under this prefix and its parents. */
  readonly container?: string;
  /** All elements of a list literal must have one type, as Kubernetes requires; otherwise they become `dyn`. */
  readonly homogeneousLiterals?: boolean;
  /** Whether `has()` costs one unit; not in Kubernetes. */
  readonly presenceTestCosts?: boolean;
}

export interface Environment {
  readonly functions: ReadonlyMap<string, readonly Overload[]>;
  readonly macros: Macros;
  readonly variables: ReadonlyMap<string, Type>;
  readonly constants: ReadonlyMap<string, { readonly type: Type; readonly value: CelValue }>;
  readonly typeNames: ReadonlyMap<string, Type>;
  readonly structType: (name: string) => ObjectType | undefined;
  readonly container: string;
  readonly homogeneousLiterals: boolean;
  readonly presenceTestCosts: boolean;
}

export const overload = (id: string, params: readonly Type[], result: Type, run: Implementation): Overload => ({
  id,
  member: false,
  params,
  result,
  run,
});

export const method = (id: string, params: readonly Type[], result: Type, run: Implementation): Overload => ({
  id,
  member: true,
  params,
  result,
  run,
});

export function environment(options: EnvironmentOptions): Environment {
  const functions = new Map<string, readonly Overload[]>();
  const macros = new Map<string, Macro>();
  const typeNames = new Map<string, Type>();
  const constants = new Map<string, { type: Type; value: CelValue }>();
  for (const library of options.libraries) {
    for (const [name, overloads] of Object.entries(library.functions ?? {})) {
      // A later library's overload of the same id replaces an earlier one's.
      const ids = new Set(overloads.map((one) => one.id));
      functions.set(name, [...(functions.get(name) ?? []).filter((one) => !ids.has(one.id)), ...overloads]);
    }
    for (const [key, macro] of library.macros ?? []) macros.set(key, macro);
    for (const type of library.types ?? []) typeNames.set(nameOf(type), typeOf(type));
    for (const [name, constant] of Object.entries(library.constants ?? {})) constants.set(name, constant);
  }
  return {
    functions,
    macros,
    typeNames,
    structType: (name) => {
      for (const { structType } of options.libraries) {
        const type = structType?.(name);
        if (type !== undefined) return type;
      }
      return undefined;
    },
    constants,
    variables: new Map(Object.entries(options.variables ?? {})),
    container: options.container ?? '',
    homogeneousLiterals: options.homogeneousLiterals ?? false,
    presenceTestCosts: options.presenceTestCosts ?? false,
  };
}

/** Returns the environment with other or more variables, which a schema adds to a base. */
export function withVariables(base: Environment, variables: Readonly<Record<string, Type>>): Environment {
  return { ...base, variables: new Map([...base.variables, ...Object.entries(variables)]) };
}

function nameOf(type: Type): string {
  switch (type.kind) {
    case 'null':
      return 'null_type';
    case 'timestamp':
      return 'google.protobuf.Timestamp';
    case 'duration':
      return 'google.protobuf.Duration';
    case 'object':
    case 'opaque':
      return type.name;
    default:
      return type.kind;
  }
}

/** `a.b.c` in container `x.y`: `x.y.a.b.c`, `x.a.b.c`, `a.b.c`. A leading dot means the last only. */
export function candidateNames(container: string, name: string): readonly string[] {
  if (name.startsWith('.')) return [name.slice(1)];
  if (container === '') return [name];
  const names: string[] = [];
  for (let prefix = container; prefix !== ''; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf('.')))) {
    names.push(`${prefix}.${name}`);
  }
  return [...names, name];
}
