/**
 * Selects the handler of a verb on a subresource. Subresources that are part of the object share the object's verbs; the others are
 * separate operations.
 */

import { createRequire } from 'node:module';
import { lazy } from '@hangar/core';
import { issueToken } from '../auth/service-accounts/token-request.ts';
import type * as Nodes from '../nodes/index.ts';
import type { Resource } from '../resources/resource.ts';
import type { Verb } from '../request/info.ts';
import { get } from '../verbs/get.ts';
import type { CallHandler } from '../verbs/index.ts';
import { patch } from '../verbs/patch.ts';
import { update } from '../verbs/update.ts';
import { bindPod } from './binding.ts';
import { evictPod } from './eviction.ts';
import { getScale, patchScale, updateScale } from './scale.ts';

type Handlers = Readonly<Partial<Record<Verb, CallHandler>>>;

const require = createRequire(import.meta.url);
/** Loaded with the first request to a node. */
const nodes = lazy(() => require('../nodes/index.ts') as typeof Nodes);

const onNode =
  (name: keyof typeof Nodes): CallHandler =>
  (call) =>
    nodes()[name](call);

const partOfObject: Handlers = { get, update, patch };
const stream: Handlers = { get: onNode('podStream'), create: onNode('podStream') };

const everyVerb = (handler: CallHandler): Handlers => ({
  get: handler,
  create: handler,
  update: handler,
  patch: handler,
  delete: handler,
});

const byName: Readonly<Record<string, Handlers>> = {
  status: partOfObject,
  approval: partOfObject,
  ephemeralcontainers: partOfObject,
  resize: partOfObject,
  finalize: partOfObject,
  scale: { get: getScale, update: updateScale, patch: patchScale },
  binding: { create: bindPod },
  eviction: { create: evictPod },
  token: { create: issueToken },
  log: { get: onNode('podLog') },
  exec: stream,
  attach: stream,
  portforward: stream,
  'pods/proxy': everyVerb(onNode('podProxy')),
  'nodes/proxy': everyVerb(onNode('nodeProxy')),
  'services/proxy': everyVerb(onNode('serviceProxy')),
};

/** Returns undefined if the subresource does not support the verb. */
export function subresourceHandler(resource: Resource, name: string, verb: Verb): CallHandler | undefined {
  const subresource = resource.subresources.find((one) => one.name === name);
  if (!subresource?.verbs.includes(verb)) return undefined;
  if (resource.operations && Object.hasOwn(resource.operations, name)) return resource.operations[name]![verb];
  const key = name === 'proxy' ? `${resource.name}/proxy` : name;
  return Object.hasOwn(byName, key) ? byName[key]![verb] : undefined;
}
