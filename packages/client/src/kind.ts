/**
 * A kind as a value that carries its type: `client.get(Deployment, key)` answers a `Deployment`. Built-in ones are in `kinds/`,
 * those of a CRD come from `defineKind` or the generator, unknown ones from a server's discovery.
 */

import type { ObjectMeta } from '@hangar/api/json';

/** What every object has. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** Of which nothing more is known. */
export interface UnknownObject extends ApiObject {
  [field: string]: unknown;
}

export interface KindNames {
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** In lower case, as in paths: `deployments`. */
  readonly plural: string;
  readonly isNamespaced: boolean;
}

declare const objectType: unique symbol;

export interface Kind<T extends ApiObject = UnknownObject> extends KindNames {
  /** Only for the compiler; no kind has it. */
  readonly [objectType]?: T;
}

export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

export const defineKind = <T extends ApiObject = UnknownObject>(names: KindNames): Kind<T> => names;

/** The kind as `client.metadata` answers it, for the compiler: nothing but metadata is there. */
export const asMetadata = (kind: KindNames): Kind<ApiObject> => kind;

/** `apps` of `apps/v1`; the core group is ''. */
export const groupOf = ({ apiVersion }: Pick<KindNames, 'apiVersion'>): string => {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
};

/** `deployments.apps/v1`: unique, for maps and messages. */
export const kindKey = (kind: KindNames): string => `${kind.plural}.${kind.apiVersion}`;

/** Which object. Cluster-scoped ones have no namespace. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

export const keyOf = ({ metadata }: ApiObject): ObjectKey =>
  metadata.namespace === undefined
    ? { name: metadata.name ?? '' }
    : { namespace: metadata.namespace, name: metadata.name ?? '' };
