/** Maps verbs to handlers. */

import type { Answer } from '../http/message.ts';
import type { Verb } from '../request/info.ts';
import type { Resource } from '../resources/resource.ts';
import type { Call } from './call.ts';
import { create } from './create.ts';
import { deleteCollection, deleteOne } from './delete.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { patch } from './patch.ts';
import { unstored } from './unstored.ts';
import { update } from './update.ts';
import { watch } from './watch.ts';

export type CallHandler = (call: Call) => Promise<Answer>;

const handlers: Readonly<Record<Verb, CallHandler>> = {
  create,
  get,
  list,
  watch,
  update,
  patch,
  delete: deleteOne,
  deletecollection: deleteCollection,
};

/** Verbs that require a name in the path, and those that must not have one. */
const named = new Set<Verb>(['get', 'update', 'patch', 'delete']);
const unnamed = new Set<Verb>(['create', 'list', 'deletecollection']);

export function verbHandler(resource: Resource, verb: Verb, hasName: boolean): CallHandler | undefined {
  if (!resource.verbs.includes(verb) || (named.has(verb) && !hasName) || (unnamed.has(verb) && hasName))
    return undefined;
  const own = resource.storagePrefix === '' ? unstored(resource) : handlers;
  return Object.hasOwn(own, verb) ? own[verb] : undefined;
}
