/** The three patch types with their own rules; server-side apply is separate. */

export { goText } from './go-values.ts';
export { applyJsonPatch, jsonPatchProblems } from './json-patch.ts';
export type { JsonPatchOptions } from './json-patch.ts';
export { applyMergePatch } from './merge-patch.ts';
export type { MergePatchOptions } from './merge-patch.ts';
export { applyStrategicMergePatch } from './strategic-merge-patch.ts';
