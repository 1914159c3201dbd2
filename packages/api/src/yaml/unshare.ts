/**
 * Aliases make one node of a YAML document appear in several places. JSON has no aliases: here every place gets its own copy, unless there
 * would be too many copies (a few hundred bytes of text can expand to billions of nodes) or the node contains itself.
 */

import { ApiError } from '../errors.ts';
import { depthMax, yamlAliasedNodesMax } from '../limits.ts';

/** Throws MalformedYaml or TooDeep. */
export function unshare(root: unknown): unknown {
  let nodesLeft = countDistinct(root) + yamlAliasedNodesMax;
  const copy = (node: unknown, depth: number): unknown => {
    if (--nodesLeft < 0) throw new ApiError('MalformedYaml', 'document contains excessive aliasing');
    if (typeof node !== 'object' || node === null) return node;
    // A node that contains itself has infinite depth.
    if (depth > depthMax) throw new ApiError('TooDeep', 'the document is nested too deeply');
    if (Array.isArray(node)) return node.map((one) => copy(one, depth + 1));
    const object: Record<string, unknown> = {};
    for (const [key, one] of Object.entries(node)) {
      const value = copy(one, depth + 1);
      Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
    }
    return object;
  };
  return copy(root, 1);
}

/** Number of nodes of the document as written: each shared one once. */
function countDistinct(root: unknown): number {
  const seen = new Set<object>();
  const waiting: unknown[] = [root];
  let count = 0;
  while (waiting.length > 0) {
    const node = waiting.pop();
    count++;
    if (typeof node !== 'object' || node === null || seen.has(node)) continue;
    seen.add(node);
    for (const one of Object.values(node)) waiting.push(one);
  }
  return count;
}
