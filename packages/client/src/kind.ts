/**
 * A kind is a value that carries the type of its objects, so `client.get(Deployment, key)` returns a `Deployment`. Built-in kinds are in
 * `kinds/`, kinds of a CRD come from `defineKind` or the generator, all others from discovery (`KindMapper`).
 *
 *     interface Widget extends ApiObject { spec: { size: number } }
 *     const Widget = defineKind<Widget>({
 *       apiVersion: 'example.com/v1', kind: 'Widget', plural: 'widgets', isNamespaced: true,
 *     });
 */

import type { ObjectMeta } from '@hangar/api/json';

/** The fields that all Kubernetes objects have. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** An object whose kind has no TypeScript type. All fields other than the common ones are `unknown`. */
export interface UnknownObject extends ApiObject {
  [field: string]: unknown;
}

/** Identifies a kind and its resource in paths. */
export interface KindNames {
  /** Group and version: `v1`, `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Resource name in lower case, as in paths: `deployments`. */
  readonly plural: string;
  readonly isNamespaced: boolean;
}

declare const objectType: unique symbol;

/** A kind together with the TypeScript type `T` of its objects. */
export interface Kind<T extends ApiObject = UnknownObject> extends KindNames {
  /** Exists only for the compiler; the property is never set. */
  readonly [objectType]?: T;
}

/** The object type of a kind: `ObjectOf<typeof Pod>` is `Pod`. */
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

/** Declares a kind of the object type `T`. */
export const defineKind = <T extends ApiObject = UnknownObject>(names: KindNames): Kind<T> => names;

/** Returns the kind with the object type that `client.metadata` returns: only `metadata` is present. */
export const asMetadata = (kind: KindNames): Kind<ApiObject> => kind;

/** Returns the API group of a kind: `apps` of `apps/v1`, '' for the core group. */
export const groupOf = ({ apiVersion }: Pick<KindNames, 'apiVersion'>): string => {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
};

/** Returns a unique text for maps and messages: `deployments.apps/v1`. */
export const kindKey = (kind: KindNames): string => `${kind.plural}.${kind.apiVersion}`;

/** Namespace and name of an object. Cluster-scoped objects have no namespace. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Returns the key of an object. */
export const keyOf = ({ metadata }: ApiObject): ObjectKey =>
  metadata.namespace === undefined
    ? { name: metadata.name ?? '' }
    : { namespace: metadata.namespace, name: metadata.name ?? '' };
