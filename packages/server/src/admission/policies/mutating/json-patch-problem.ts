/**
 * Explains why a patch does not apply, with the messages of the library that kube-apiserver uses, so that policy authors see the failing
 * path. Runs only for patches that failed: replays the operations up to the failing one.
 */

import { applyJsonPatch, isObject, StatusError } from '@hangar/api';
import type { JsonObject } from '@hangar/api';

export interface Operation extends JsonObject {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

interface FailedOperation {
  readonly operation: Operation;
  /** The document as the preceding operations left it. */
  readonly document: unknown;
}

function failedOperation(object: JsonObject, operations: readonly Operation[]): FailedOperation | undefined {
  let document: JsonObject = object;
  for (const operation of operations) {
    try {
      document = applyJsonPatch(document, [operation]) as JsonObject;
    } catch (error) {
      if (error instanceof StatusError) return { operation, document };
      throw error;
    }
  }
  return undefined;
}

export function failsOnlyItsTest(object: JsonObject, operations: readonly Operation[]): boolean {
  const failed = failedOperation(object, operations);
  return failed?.operation.op === 'test' && testProblem(failed.document, failed.operation.path) === undefined;
}

/** Returns undefined if the cause is specific to this server, such as a size limit. */
export function patchProblem(object: JsonObject, operations: readonly Operation[]): string | undefined {
  const failed = failedOperation(object, operations);
  if (!failed) return undefined;
  const { operation, document } = failed;
  const { op, path, from = '' } = operation;
  switch (op) {
    case 'add':
      return (
        missing(document, path, `add operation does not apply: doc is missing path: "${path}"`) ??
        addProblem(document, path, `error in add for path: '${path}'`)
      );
    case 'remove':
      return (
        missing(document, path, `remove operation does not apply: doc is missing path: "${path}"`) ??
        removeProblem(document, path, `error in remove for path: '${path}'`)
      );
    case 'replace':
      return (
        missing(document, path, `replace operation does not apply: doc is missing path: ${path}`) ??
        `replace operation does not apply: doc is missing key: ${path}: missing value`
      );
    case 'test':
      return testProblem(document, path);
    case 'move':
    case 'copy':
      return movedProblem(document, operation, from);
    default:
      return `Unexpected kind: ${op}`;
  }
}

function movedProblem(document: unknown, { op, path }: Operation, from: string): string | undefined {
  if (from === '') return `${op} operation failed to decode from: operation, missing from field: missing value`;
  const key = keyOf(from);
  const inKey = op === 'move' ? `error in move for path: '${key}'` : `error in copy for from: '${from}'`;
  return (
    missing(document, from, `${op} operation does not apply: doc is missing from path: ${from}`) ??
    indexProblem(containerOf(document, from), key, inKey) ??
    (op === 'move' ? removeProblem(document, from, inKey) : undefined) ??
    missing(document, path, `${op} operation does not apply: doc is missing destination path: ${path}`) ??
    addProblem(
      document,
      path,
      op === 'move' ? `error in move for path: '${path}'` : 'error while adding value during copy',
    )
  );
}

function testProblem(document: unknown, path: string): string | undefined {
  if (path === '') return undefined;
  return (
    missing(document, path, `test operation does not apply: is missing path: ${path}`) ??
    indexProblem(containerOf(document, path), keyOf(path), `error in test for path: '${path}'`)
  );
}

const missing = (document: unknown, path: string, text: string): string | undefined =>
  containerOf(document, path) === undefined ? `${text}: missing value` : undefined;

function removeProblem(document: unknown, path: string, where: string): string | undefined {
  const [container, key] = [containerOf(document, path), keyOf(path)];
  if (Array.isArray(container)) return indexProblem(container, key, where);
  if (isObject(container) && Object.hasOwn(container, key)) return undefined;
  return `${where}: Unable to remove nonexistent key: ${key}: missing value`;
}

function addProblem(document: unknown, path: string, where: string): string | undefined {
  const [container, key] = [containerOf(document, path), keyOf(path)];
  if (!Array.isArray(container) || key === '-') return undefined;
  const wrong = `${where}: value was not a proper array index: '${key}'`;
  return indexProblem([...container, null], key, isIndex(key) ? where : wrong);
}

const isIndex = (key: string): boolean => /^[+-]?\d+$/.test(key);

function indexProblem(container: unknown, key: string, where: string): string | undefined {
  if (!Array.isArray(container)) return undefined;
  if (!isIndex(key)) return `${where}: strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`;
  const index = Number(key);
  if (index < container.length && index >= -container.length) return undefined;
  return `${where}: Unable to access invalid index: ${index}: invalid index referenced`;
}

const tokensOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

const keyOf = (path: string): string => tokensOf(path).at(-1) ?? '';

/** Returns the container of the last path segment; undefined if the path does not exist. */
function containerOf(document: unknown, path: string): unknown {
  const tokens = tokensOf(path);
  if (tokens.length === 0) return undefined;
  let at = document;
  for (const token of tokens.slice(0, -1)) {
    if (Array.isArray(at)) at = isIndex(token) ? at.at(Number(token)) : undefined;
    else at = isObject(at) && Object.hasOwn(at, token) ? at[token] : undefined;
  }
  return typeof at === 'object' && at !== null ? at : undefined;
}
