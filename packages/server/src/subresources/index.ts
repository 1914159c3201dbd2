/**
 * Selects the handler of a verb on a subresource. Subresources that are part of the object share the object's verbs; the others are
 * separate operations.
 */

import { issueToken } from '../auth/service-accounts/token-request.ts';
import type { Resource } from '../resources/resource.ts';
import type { Verb } from '../request/info.ts';
import { get } from '../verbs/get.ts';
import type { CallHandler } from '../verbs/index.ts';
import { patch } from '../verbs/patch.ts';
import { update } from '../verbs/update.ts';
import { bindPod } from './binding.ts';
import { nodeProxy, podLog, podProxy, podStream, serviceProxy } from './connect.ts';
import { evictPod } from './eviction.ts';
import { getScale, patchScale, updateScale } from './scale.ts';

type Handlers = Readonly<Partial<Record<Verb, CallHandler>>>;

const partOfObject: Handlers = { get, update, patch };
const stream: Handlers = { get: podStream, create: podStream };

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
  log: { get: podLog },
  exec: stream,
  attach: stream,
  portforward: stream,
  'pods/proxy': everyVerb(podProxy),
  'nodes/proxy': everyVerb(nodeProxy),
  'services/proxy': everyVerb(serviceProxy),
};

/** Returns undefined if the subresource does not support the verb. */
export function subresourceHandler(resource: Resource, name: string, verb: Verb): CallHandler | undefined {
  const subresource = resource.subresources.find((one) => one.name === name);
  if (!subresource?.verbs.includes(verb)) return undefined;
  if (resource.operations && Object.hasOwn(resource.operations, name)) return resource.operations[name]![verb];
  const key = name === 'proxy' ? `${resource.name}/proxy` : name;
  return Object.hasOwn(byName, key) ? byName[key]![verb] : undefined;
}
