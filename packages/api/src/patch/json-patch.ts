/**
 * JSON patch, RFC 6902, with the deviations of kube-apiserver's library: `replace` and `copy` do not check whether a key of an object
 * exists, a missing `value` is null, and an absent value tests equal to null.
 */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { depthMax } from '../limits.ts';
import { badRequest, tooLarge } from '../status/status.ts';
import { cannotUnmarshal, unprocessable } from './errors.ts';
import { checkDepth, clone, isSame, JsonDocument } from './json-document.ts';
import { get } from './record.ts';

export interface JsonPatchOptions {
  /** `fieldValidation=Ignore`: operations are not checked before they are applied. */
  readonly ignoreUnknownFields?: boolean;
}

const operationsMax = 10_000;
/** Bytes that all `copy` operations of a patch may add, as in kube-apiserver; and values, since each takes time. */
const copiedMax: CopyBudget = { bytes: 3 * 1024 * 1024, values: 50_000 };

interface CopyBudget {
  bytes: number;
  values: number;
}

type Operation = JsonObject | null;

/** Never changes the document; the result shares uncopied parts with document and patch. */
export function applyJsonPatch(document: JsonObject, patch: unknown, options: JsonPatchOptions = {}): unknown {
  const operations = options.ignoreUnknownFields ? readLoosely(patch) : readOperations(patch);
  if (operations.length > operationsMax) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${operationsMax}, got ${operations.length}`);
  }
  const result = new JsonDocument(document);
  const budget = { ...copiedMax };
  for (const operation of operations) apply(result, operation ?? {}, budget);
  checkDepth(result.root, depthMax);
  return result.root;
}

const members: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value']);

/** Returns the problems that `fieldValidation` warns about or refuses: unknown members of operations. */
export function jsonPatchProblems(patch: unknown): string[] {
  if (!Array.isArray(patch)) return [];
  return patch.flatMap((operation: unknown, index) =>
    (isObject(operation) ? Object.keys(operation) : [])
      .filter((key) => !members.has(key))
      .map((key) => `json patch unknown field "[${index}].${key}"`),
  );
}

function readOperations(patch: unknown): readonly Operation[] {
  const refuse = (value: unknown, into: string): Error =>
    badRequest(`error decoding patch: ${cannotUnmarshal(value, into)}`);
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw refuse(patch, 'value of type []handlers.jsonPatchOp');
  for (const operation of patch as unknown[]) {
    if (operation === null) continue;
    if (!isObject(operation)) throw refuse(operation, 'value of type handlers.jsonPatchOp');
    for (const key of Object.keys(operation)) {
      const value = operation[key];
      if (key === 'value' || !members.has(key) || typeof value === 'string' || value === null) continue;
      throw refuse(value, `struct field jsonPatchOp.${key} of type string`);
    }
  }
  return patch as Operation[];
}

function readLoosely(patch: unknown): readonly Operation[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw badRequest(cannotUnmarshal(patch, 'value of type jsonpatch.Patch'));
  for (const operation of patch as unknown[]) {
    if (operation === null || isObject(operation)) continue;
    throw badRequest(cannotUnmarshal(operation, 'value of type jsonpatch.Operation'));
  }
  return patch as Operation[];
}

function apply(document: JsonDocument, operation: JsonObject, budget: CopyBudget): void {
  const value = get(operation, 'value') ?? null;
  switch (get(operation, 'op')) {
    case 'add':
      return document.add(pointer(operation, 'path'), value);
    case 'remove':
      return document.remove(pointer(operation, 'path'));
    case 'replace':
      return replace(document, pointer(operation, 'path'), value);
    case 'move':
      return move(document, pointer(operation, 'from'), pointer(operation, 'path'));
    case 'copy':
      return copy(document, pointer(operation, 'from'), pointer(operation, 'path'), budget);
    case 'test':
      return test(document, pointer(operation, 'path'), value);
    default:
      throw unprocessable('an operation is unknown');
  }
}

function pointer(operation: JsonObject, member: 'path' | 'from'): string {
  const value = get(operation, member);
  if (typeof value !== 'string') throw unprocessable(`an operation has no ${member}`);
  return value;
}

function replace(document: JsonDocument, path: string, value: unknown): void {
  if (path === '') document.replaceRoot(value);
  else document.replace(path, value);
}

function move(document: JsonDocument, from: string, path: string): void {
  const value = document.read(from);
  document.remove(from);
  document.add(path, value);
}

function copy(document: JsonDocument, from: string, path: string, budget: CopyBudget): void {
  const value = document.read(from) ?? null;
  charge(value, budget, depthMax);
  // The two places must not share anything: either may be changed in place later.
  document.add(path, clone(value, depthMax));
}

/** Deducts the size of a copy of the value from the budget. Throws before it visits more than the budget allows. */
function charge(value: unknown, budget: CopyBudget, depthLeft: number): void {
  budget.values--;
  budget.bytes -= typeof value === 'string' ? Buffer.byteLength(value) + 2 : 2;
  if (budget.bytes < 0 || budget.values < 0) throw unprocessable('the patch copies too much');
  // The clone refuses deeper values.
  if (typeof value !== 'object' || value === null || depthLeft === 0) return;
  if (Array.isArray(value)) for (const item of value as unknown[]) charge(item, budget, depthLeft - 1);
  else {
    for (const key of Object.keys(value)) {
      budget.bytes -= Buffer.byteLength(key) + 4;
      charge((value as JsonObject)[key], budget, depthLeft - 1);
    }
  }
}

function test(document: JsonDocument, path: string, expected: unknown): void {
  const found = path === '' ? document.root : (document.read(path) ?? null);
  if (!isSame(found, expected, depthMax)) throw unprocessable(`the test of ${path} failed`);
}
