/** JSON and what all objects share, alone: an entry of its own, for clients that need nothing of the table of kinds. */

export { isObject } from '../object.ts';
export type { JsonObject, KubeObject, ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../object.ts';
export { parseJson } from './parse.ts';
export type { ParsedJson, ParseOptions } from './parse.ts';
