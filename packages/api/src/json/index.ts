/** JSON and the common parts of all objects: a separate entry point, for clients that do not need the table of kinds. */

export { isObject } from '../object.ts';
export type { JsonObject, KubeObject, ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../object.ts';
export { parseJson } from './parse.ts';
export type { ParsedJson, ParseOptions } from './parse.ts';
