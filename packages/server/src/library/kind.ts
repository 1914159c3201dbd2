/**
 * A kind that an aggregated API server serves. The declaration has the fields of a CustomResourceDefinition and is validated as one, and
 * names the storage of the objects.
 */

import { createRequire } from 'node:module';
import { fieldErrorText } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type * as Crd from '@hangar/api/crd';
import type { CustomResourceDefinition, JsonSchema, PrinterColumn } from '@hangar/api/crd';
import type { User } from '../auth/user.ts';
import type { Schema } from './schema.ts';
import type { Awaitable, KindStorage } from './storage.ts';

const require = createRequire(import.meta.url);

/** An object with these fields. */
export type ObjectOf<Fields> = KubeObject & Fields;

/** A kind that can only be created, like reviews. The response is the result of the handler. */
export interface CreateOnly<T> {
  onCreate(object: T, context: CreateContext): Awaitable<T>;
}

/** The context of a create request. */
export interface CreateContext {
  readonly user: User;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** True: the handler must not change anything. */
  readonly isDryRun: boolean;
}

/** Declaration of a kind, with the fields of a CustomResourceDefinition. */
export interface KindDeclaration<Fields = object> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Absent: `Namespaced`. */
  readonly scope?: 'Namespaced' | 'Cluster';
  /** Schema of the fields other than metadata, from the builder or as a structural OpenAPI schema. */
  readonly schema: Schema<Fields> | JsonSchema;
  readonly columns?: readonly PrinterColumn[];
  /** JSON paths that field selectors support, such as `.spec.title`. */
  readonly selectableFields?: readonly string[];
  /** Serves the subresource `status`. */
  readonly hasStatus?: boolean;
  /** Absent: the store of the server. */
  readonly storage?: KindStorage<ObjectOf<Fields>> | CreateOnly<ObjectOf<Fields>>;
}

export interface Kind {
  readonly definition: CustomResourceDefinition;
  readonly storage: KindStorage | CreateOnly<KubeObject> | undefined;
}

/** Declares a kind. Throws an Error that lists all problems of the declaration. */
export function declareKind<Fields>(declaration: KindDeclaration<Fields>): Kind {
  const definition = definitionOf(declaration as KindDeclaration);
  const { defaultDefinition, validateDefinition } = require('@hangar/api/crd') as typeof Crd;
  defaultDefinition(definition);
  const errors = validateDefinition(definition);
  if (errors.length > 0) {
    throw new Error(`${declaration.kind} cannot be served: ${errors.map(fieldErrorText).join('; ')}`);
  }
  return { definition, storage: declaration.storage as Kind['storage'] };
}

function definitionOf(declaration: KindDeclaration): CustomResourceDefinition {
  const { group, version, kind, plural, singular = kind.toLowerCase(), scope = 'Namespaced' } = declaration;
  const { schema, columns, hasStatus, shortNames, categories, selectableFields } = declaration;
  const names = {
    plural,
    singular,
    kind,
    listKind: `${kind}List`,
    ...(shortNames ? { shortNames: [...shortNames] } : {}),
    ...(categories ? { categories: [...categories] } : {}),
  };
  return {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: `${plural}.${group}`, generation: 1 },
    spec: {
      group,
      scope,
      names,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: 'openApi' in schema ? (schema.openApi as JsonSchema) : schema },
          ...(hasStatus ? { subresources: { status: {} } } : {}),
          ...(columns ? { additionalPrinterColumns: columns } : {}),
          ...(selectableFields ? { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) } : {}),
        },
      ],
    },
    status: { acceptedNames: names, storedVersions: [version], conditions: [] },
  };
}

export const isCreateOnly = (storage: Kind['storage']): storage is CreateOnly<KubeObject> =>
  storage !== undefined && 'onCreate' in storage;
