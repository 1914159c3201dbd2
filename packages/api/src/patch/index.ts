/** The three patches that change an object by rules of their own; server-side apply is not one of them. */

export { goText } from './go-values.ts';
export { applyJsonPatch, jsonPatchProblems } from './json-patch.ts';
export type { JsonPatchOptions } from './json-patch.ts';
export { applyMergePatch } from './merge-patch.ts';
export type { MergePatchOptions } from './merge-patch.ts';
export { applyStrategicMergePatch } from './strategic-merge-patch.ts';
