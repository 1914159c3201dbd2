/**
 * The operations of a group-version, path by path, from which both kinds of document are written. The rules are those of kube-apiserver:
 * the verbs of a resource determine its paths and methods.
 */

import type { GroupVersionKind } from '../builtin/schemas.ts';
import type { NamedSchema } from './definitions.ts';
import type { Parameter } from './parameters.ts';

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

/** In the order of documents. */
export const methods: readonly Method[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

export interface Operation {
  readonly method: Method;
  readonly id: string;
  readonly tag: string;
  /** Absent for paths that are not resources, such as discovery. */
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  readonly parameters: readonly Parameter[];
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly body?: { readonly schema: NamedSchema; readonly isRequired: boolean };
  /** Undefined: plain text. */
  readonly answer: NamedSchema | undefined;
  readonly codes: readonly StatusCode[];
}

export type StatusCode = 200 | 201 | 202;

export interface PathItem {
  readonly path: string;
  readonly operations: readonly Operation[];
}

export const reasons: Readonly<Record<StatusCode, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };

/** `rbac.authorization.k8s.io` → `RbacAuthorization`: the part of operation names that comes from the group. */
export function groupTitle(group: string): string {
  if (group === '') return 'Core';
  const words = group.replace(/\.k8s\.io$/, '').split(/[^A-Za-z0-9]+/);
  return words.map(title).join('');
}

export const title = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** `rbacAuthorization_v1`, or `apps` for the group itself. */
export function tagOf(group: string, version?: string): string {
  const name = groupTitle(group);
  return name.charAt(0).toLowerCase() + name.slice(1) + (version === undefined ? '' : `_${version}`);
}
