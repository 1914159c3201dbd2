/**
 * How values of a type merge: the schema that server-side apply and field ownership work on. A type has up to three alternatives, since a
 * value without schema may be a scalar, a list or a map. Types are immutable; their parts are made on first use, so recursive types work
 * and large schemas cost nothing until used.
 *
 *   scalar   replaced as a whole
 *   list     atomic (replaced as a whole), a set of scalars, or a map: items are found by the values of their keys
 *   map      atomic, or granular: known fields, a type for all other keys, or both
 */

import type { JsonObject } from '../object.ts';

export type ScalarKind = 'numeric' | 'string' | 'boolean' | 'untyped';

export interface MergeField {
  readonly type: MergeType;
  /** The default of the OpenAPI schema; undefined if there is none. Identifies items of lists that leave a key out. */
  readonly default: unknown;
}

export class ListMerge {
  readonly isAtomic: boolean;
  /** Empty: the items are scalars, and each is its own key. */
  readonly keys: readonly string[];
  readonly #make: () => MergeType;
  #element: MergeType | undefined;

  constructor(kind: 'atomic' | 'set' | 'map', keys: readonly string[], element: () => MergeType) {
    this.isAtomic = kind === 'atomic';
    this.keys = kind === 'map' ? keys : [];
    this.#make = element;
  }

  get element(): MergeType {
    this.#element ??= this.#make();
    return this.#element;
  }
}

export interface MapMergeOptions {
  readonly isAtomic?: boolean;
  /** Type of keys that are not known fields. */
  readonly element?: (() => MergeType) | undefined;
  readonly find?: ((name: string) => MergeField | undefined) | undefined;
}

export class MapMerge {
  readonly isAtomic: boolean;
  readonly hasFields: boolean;
  readonly #options: MapMergeOptions;
  readonly #fields = new Map<string, MergeField>();
  #element: MergeType | undefined;

  constructor(options: MapMergeOptions) {
    this.#options = options;
    this.isAtomic = options.isAtomic ?? false;
    this.hasFields = options.find !== undefined;
  }

  /** Undefined: only the known fields are allowed. */
  get element(): MergeType | undefined {
    this.#element ??= this.#options.element?.();
    return this.#element;
  }

  field(name: string): MergeField | undefined {
    if (!this.hasFields) return undefined;
    let field = this.#fields.get(name);
    if (!field) {
      field = this.#options.find!(name);
      // Only existing fields are kept: names sent by clients must not fill the memory.
      if (field) this.#fields.set(name, field);
    }
    return field;
  }

  /** Undefined: the key is not in the schema. */
  typeOf(name: string): MergeType | undefined {
    return this.field(name)?.type ?? this.element;
  }

  withAtomic(isAtomic: boolean): MapMerge {
    return new MapMerge({ ...this.#options, isAtomic });
  }
}

export type Alternative = 'map' | 'scalar' | 'list';

export interface MergeTypeOptions {
  readonly scalar?: ScalarKind;
  readonly list?: ListMerge;
  readonly map?: MapMerge;
  readonly isUntracked?: boolean;
  readonly makeEmpty?: () => JsonObject;
}

export class MergeType {
  readonly scalar: ScalarKind | undefined;
  readonly list: ListMerge | undefined;
  readonly map: MapMerge | undefined;
  /** Its changes do not count: managedFields itself. */
  readonly isUntracked: boolean;
  readonly #makeEmpty: (() => JsonObject) | undefined;
  #empty: JsonObject | undefined;

  constructor(options: MergeTypeOptions) {
    this.scalar = options.scalar;
    this.list = options.list;
    this.map = options.map;
    this.isUntracked = options.isUntracked ?? false;
    this.#makeEmpty = options.makeEmpty;
  }

  /**
   * An object of this type before its creation: built-in kinds have fields that are always written, and creating the object does not make
   * the client their owner. Must not be changed.
   */
  get emptyObject(): JsonObject {
    this.#empty ??= this.#makeEmpty?.() ?? {};
    return this.#empty;
  }

  /** Returns the alternative for a value: that of its own form if the type has it, else the first one. */
  alternativeOf(value: unknown): Alternative {
    if (typeof value === 'object') {
      if (value !== null) {
        if (Array.isArray(value)) {
          if (this.list) return 'list';
        } else if (this.map) return 'map';
      }
    } else if (this.scalar !== undefined && value !== undefined) return 'scalar';
    return this.map ? 'map' : this.scalar === undefined ? 'list' : 'scalar';
  }
}

/** Any value, replaced as a whole. */
export const untypedAtomic: MergeType = new MergeType({
  scalar: 'untyped',
  list: new ListMerge('atomic', [], () => untypedAtomic),
  map: new MapMerge({ isAtomic: true, element: () => untypedAtomic }),
});

/** Any value without schema: maps merge key by key, lists are replaced. */
export const deducedMergeType: MergeType = new MergeType({
  scalar: 'untyped',
  list: new ListMerge('atomic', [], () => untypedAtomic),
  map: new MapMerge({ element: () => deducedMergeType }),
});

export const scalarTypes: Readonly<Record<ScalarKind, MergeType>> = {
  numeric: new MergeType({ scalar: 'numeric' }),
  string: new MergeType({ scalar: 'string' }),
  boolean: new MergeType({ scalar: 'boolean' }),
  untyped: new MergeType({ scalar: 'untyped' }),
};
