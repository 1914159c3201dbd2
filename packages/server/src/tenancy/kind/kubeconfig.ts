/** `POST …/tenants/demo/kubeconfig`: returns a kubeconfig for the tenant, with a client certificate that its own CA issues. */

import { badRequest, isObject, notFound } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import type { Answer } from '../../http/message.ts';
import { objectAnswer, wantedBy } from '../../objects/answers.ts';
import { groupResource } from '../../verbs/call.ts';
import type { Call } from '../../verbs/call.ts';
import { objectKey } from '../../control-plane.ts';
import { timestamp } from '../../verbs/metadata.ts';
import { issueKubeconfig } from '../keys/kubeconfig.ts';
import { tenantKeys } from '../keys/keys.ts';
import { identityKey, tenantPrefix } from '../layout.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { sentObject } from './sent-object.ts';

const bodyBytesMax = 64 * 1024;
const secondsMin = 600;
const secondsMax = 366 * 86_400;
const defaultSeconds = 365 * 86_400;

interface Wanted {
  readonly user: string;
  readonly groups: readonly string[];
  readonly expirationSeconds: number;
}

export const kubeconfigOperation =
  (world: TenantWorld) =>
  async (call: Call): Promise<Answer> => {
    const { info, plane, resource, request } = call;
    const want = wantedBy(call);
    const wanted = wantedKubeconfig(await request.body(bodyBytesMax));
    const { store, storePrefix, clock, random, isPooled = false } = world;
    const keyWorld = { clock, random, isPooled };
    const path = info.name;
    const { entry } = await plane.store.get(objectKey(plane, resource, '', path));
    const prefix = tenantPrefix(storePrefix, path);
    const identity = entry && (await store.get(identityKey(prefix))).entry;
    if (!identity) throw notFound(groupResource(call), path);
    const keys = await tenantKeys({ store, prefix, path, identityRevision: identity.modRevision, ...keyWorld });
    const kubeconfig = await issueKubeconfig({
      keys,
      path,
      server: world.url(path),
      servingCa: world.servingCa(),
      user: wanted.user,
      groups: wanted.groups,
      seconds: wanted.expirationSeconds,
      ...keyWorld,
    });
    const answer = {
      kind: 'TenantKubeconfig',
      apiVersion: resource.apiVersion,
      metadata: { name: path, creationTimestamp: timestamp(clock) },
      spec: { ...wanted },
      status: { kubeconfig, expirationTimestamp: timestamp(clock, wanted.expirationSeconds) },
    } as unknown as KubeObject;
    return objectAnswer(call, want, answer, 201);
  };

/** Parses the body: empty, or an object whose `spec` may have `user`, `groups` and `expirationSeconds`. Throws 400. */
function wantedKubeconfig(body: Uint8Array): Wanted {
  const value = body.length === 0 ? {} : sentObject(body, 'the body of a request for a kubeconfig');
  const spec = value['spec'] ?? {};
  if (!isObject(spec)) throw badRequest('spec must be an object');
  const { user = 'admin', groups = ['system:masters'], expirationSeconds = defaultSeconds } = spec as JsonObject;
  if (typeof user !== 'string' || user === '') throw badRequest('spec.user must be a name');
  if (!Array.isArray(groups) || !groups.every((one) => typeof one === 'string' && one !== '')) {
    throw badRequest('spec.groups must be a list of names');
  }
  const isTime = Number.isInteger(expirationSeconds);
  if (!isTime || Number(expirationSeconds) < secondsMin || Number(expirationSeconds) > secondsMax) {
    throw badRequest(`spec.expirationSeconds must be a number from ${secondsMin} to ${secondsMax}`);
  }
  return { user, groups: groups as string[], expirationSeconds: Number(expirationSeconds) };
}
