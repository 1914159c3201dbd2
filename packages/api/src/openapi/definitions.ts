/**
 * The schemas of one document: those that an operation refers to, and those that they refer to in turn. A schema is written on its first
 * reference, so a document has exactly the schemas that are reachable from its paths.
 */

import type { GroupVersion } from '../builtin/schemas.ts';
import { by } from '../discovery/order.ts';
import type { JsonObject } from '../object.ts';

/** `v2` is Swagger 2.0: no defaults, no alternatives, no siblings of references. */
export type Dialect = 'v2' | 'v3';

export interface NamedSchema {
  /** `io.k8s.api.core.v1.Pod`. */
  readonly name: string;
  readonly write: (definitions: Definitions) => JsonObject;
}

export interface DefinitionsOptions {
  readonly dialect: Dialect;
  /** The group-versions that options of requests and events of watches are registered in. */
  readonly groupVersions: readonly GroupVersion[];
}

export class Definitions {
  readonly dialect: Dialect;
  readonly groupVersions: readonly GroupVersion[];
  readonly #prefix: string;
  readonly #schemas = new Map<string, JsonObject>();

  constructor({ dialect, groupVersions }: DefinitionsOptions) {
    this.dialect = dialect;
    this.groupVersions = groupVersions;
    this.#prefix = dialect === 'v2' ? '#/definitions/' : '#/components/schemas/';
  }

  refTo({ name, write }: NamedSchema): { $ref: string } {
    if (!this.#schemas.has(name)) {
      // Types refer to themselves: the name is registered before the schema exists.
      this.#schemas.set(name, {});
      this.#schemas.set(name, write(this));
    }
    return { $ref: this.#prefix + name };
  }

  /** A property that is a reference: version 3 puts it into `allOf`, because a reference has no siblings. */
  propertyTo(schema: NamedSchema, siblings: JsonObject = {}): JsonObject {
    const reference = this.refTo(schema);
    return this.dialect === 'v2' ? { ...reference, ...siblings } : { ...siblings, allOf: [reference] };
  }

  toJson(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(by(([name]) => name)));
  }
}
