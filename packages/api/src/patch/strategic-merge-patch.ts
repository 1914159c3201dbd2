/**
 * Strategic merge patch: a merge patch that uses the types. Lists merge by key where the API declares it, and directives in the patch
 * express what a plain merge cannot:
 *
 *   `$patch: replace | delete`            this object is taken as it is, or emptied; in a list, see `strategic-lists.ts`
 *   `$retainKeys: [a, b]`                 removes every other key of the live object
 *   `$deleteFromPrimitiveList/key: [x]`   removes these scalars from the list
 *   `$setElementOrder/key: [x, y]`        the order of the resulting list
 *
 * Inputs are never changed; the result shares unchanged parts with them. Only built-in kinds support it.
 */

import type { StructType } from '../builtin/types.ts';
import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { badRequest } from '../status/status.ts';
import { cannotUnmarshal } from './errors.ts';
import { UnclassifiedError } from '../status/status.ts';
import { goText } from './go-values.ts';
import { listField, objectField, schemaOfStruct } from './patch-schema.ts';
import type { FieldSchema, PatchSchema } from './patch-schema.ts';
import { get, has, put, remove } from './record.ts';
import * as lists from './strategic-lists.ts';

const { directiveKey } = lists;
const retainKey = '$retainKeys';
const orderPrefix = '$setElementOrder';
const deletePrefix = '$deleteFromPrimitiveList';

export function applyStrategicMergePatch(original: JsonObject, patch: unknown, struct: StructType): JsonObject {
  if (patch === null) return original;
  if (!isObject(patch)) throw badRequest(cannotUnmarshal(patch, 'value of type map[string]interface {}'));
  return mergeObjects(original, patch, schemaOfStruct(struct));
}

function mergeObjects(live: JsonObject, patch: JsonObject, schema: PatchSchema): JsonObject {
  if (has(patch, directiveKey)) return applyDirective(patch);
  const merged = { ...live };
  const rest = { ...patch };
  retainKeys(merged, rest);
  for (const key of Object.keys(patch)) if (key.startsWith(orderPrefix)) orderList(merged, rest, key, schema);
  for (const key of Object.keys(rest)) mergeKey(merged, key, rest[key], schema);
  return merged;
}

function applyDirective(patch: JsonObject): JsonObject {
  const directive = get(patch, directiveKey);
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw lists.badDirective(directive, patch);
  const { [directiveKey]: _, ...replacement } = patch;
  return replacement;
}

function retainKeys(merged: JsonObject, rest: JsonObject): void {
  if (!has(rest, retainKey)) return;
  const list = rest[retainKey];
  remove(rest, retainKey);
  if (!Array.isArray(list)) throw badRetainKeys();
  const retained = new Set<unknown>(list);
  for (const key of Object.keys(rest)) {
    const isParallel = key.startsWith(deletePrefix) || key.startsWith(orderPrefix);
    if (rest[key] !== null && !isParallel && !retained.has(key)) throw badRetainKeys();
  }
  for (const key of Object.keys(merged)) if (!retained.has(key)) remove(merged, key);
}

const badRetainKeys = (): Error => badRequest('invalid patch format of retainKeys');

function mergeKey(merged: JsonObject, patchKey: string, change: unknown, schema: PatchSchema): void {
  const isDeletion = patchKey.startsWith(deletePrefix);
  const key = isDeletion ? bareKey(patchKey, deletePrefix, 'primitive list') || patchKey : patchKey;
  const live = get(merged, key);
  if (change === null) remove(merged, key);
  else if (isObject(live) && isObject(change)) put(merged, key, mergeObjectField(live, change, schema, key));
  else if (Array.isArray(live) && Array.isArray(change)) {
    put(merged, key, mergeListField(live, change, listField(schema, key), isDeletion));
  } else if (!isDeletion) {
    const value = plain(change);
    if (value === undefined) remove(merged, key);
    else put(merged, key, value);
  }
}

function mergeObjectField(live: JsonObject, change: JsonObject, schema: PatchSchema, key: string): JsonObject {
  const field = objectField(schema, key);
  return field.strategy === 'replace' ? change : mergeObjects(live, change, field.schema);
}

function mergeListField(live: lists.List, change: lists.List, field: FieldSchema, isDeletion: boolean): lists.List {
  const { schema, strategy, mergeKey } = field;
  if (strategy !== 'merge' && !isDeletion) return change;
  if (live.length === 0 && change.length === 0) return live;
  if (isDeletion && lists.elementType(live, change) !== lists.mapType) return lists.deleteFromList(live, change);
  return lists.mergeLists(live, change, {
    mergeKey,
    goKind: schema.goKind,
    mergeElement: (element, patch) => mergeObjects(element, patch, schema),
  });
}

/** `$setElementOrder`: merges its list and removes it from the patch. */
function orderList(merged: JsonObject, rest: JsonObject, orderKey: string, schema: PatchSchema): void {
  const order = rest[orderKey];
  remove(rest, orderKey);
  if (!Array.isArray(order)) throw lists.badType(lists.listType, order);
  const key = bareKey(orderKey, orderPrefix, 'setElementOrder list');
  const live = listOf(merged, key);
  const change = listOf(rest, key);
  const field = listField(schema, key);
  checkOrder(change ?? [], order, field.mergeKey);
  if (!live && !change) return;
  const items = !live ? (plain(change) as lists.List) : change ? mergeListField(live, change, field, false) : live;
  const { mergeKey } = field;
  const stranger = mergeKey === '' ? -1 : order.findIndex((element) => !isObject(element));
  if (stranger >= 0 && items.length > 0) throw new UnclassifiedError(`value for key ${stranger} is not a map`);
  const isOfMaps = lists.elementType(live ?? [], change ?? []) === lists.mapType;
  // Objects cannot be ordered without a key that identifies them.
  if (isOfMaps && mergeKey === '') for (const one of [...items, ...order, ...(live ?? [])]) lists.keyOf(one, '');
  const lived = live && change && isOfMaps ? lists.liveOrderAfter(live, change, mergeKey) : (live ?? []);
  put(merged, key, lists.arrange({ items, first: order, live: lived, mergeKey }));
  remove(rest, key);
}

function listOf(object: JsonObject, key: string): lists.List | undefined {
  const value = get(object, key);
  if (!has(object, key) || Array.isArray(value)) return value as lists.List | undefined;
  throw lists.badType(lists.listType, value);
}

/** The order must name the elements of the patch, in the same sequence; deletions may be anywhere. */
function checkOrder(patch: lists.List, order: lists.List, mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  const directiveOf = (element: unknown): unknown => (isObject(element) ? get(element, directiveKey) : undefined);
  const stranger = patch.findIndex((element) => !isObject(element));
  if (mergeKey !== '' && stranger >= 0) throw lists.badType(lists.mapType, patch[stranger]);
  const wanted = mergeKey === '' ? patch : patch.filter((element) => directiveOf(element) !== 'delete');
  const valueOf = (element: unknown): unknown => (mergeKey === '' ? element : lists.keyOf(element, mergeKey));
  let matched = 0;
  for (const element of order) {
    // Other directives are skipped, but not behind the last named element.
    while (directiveOf(wanted[matched]) !== undefined) matched++;
    if (matched < wanted.length && valueOf(wanted[matched]) === valueOf(element)) matched++;
  }
  if (matched < wanted.length) {
    throw new UnclassifiedError(
      `The order in patch list:\n${goText(patch)}\n doesn't match ${orderPrefix} list:\n${goText(order)}\n`,
    );
  }
}

function bareKey(key: string, prefix: string, what: string): string {
  if (!key.startsWith(`${prefix}/`)) throw badRequest(`invalid patch format of ${what}`);
  return key.slice(prefix.length + 1);
}

/** Converts a patch's value that is not merged with a live one: no nulls in objects, no directives. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain).filter((element) => element !== undefined);
  if (!isObject(value)) return value;
  if (get(value, directiveKey) !== null && has(value, directiveKey)) return undefined;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) {
    const inner = value[key] === null ? undefined : plain(value[key]);
    if (inner !== undefined) put(kept, key, inner);
  }
  return kept;
}
