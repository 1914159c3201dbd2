/**
 * Setting an owner reference can delete an object or block the deletion of its owner, so the user needs those permissions. Off by default,
 * as in kube-apiserver.
 */

import { parseApiVersion } from '@hangar/api';
import type { KubeObject, OwnerReference } from '@hangar/api';
import type { ResourceRequest } from '../../request/info.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { equal } from './equal.ts';
import { forbid } from '../refusal.ts';

export const ownerReferencesPermissionEnforcement: AdmissionPlugin = {
  name: 'OwnerReferencesPermissionEnforcement',
  async validate(request) {
    const { operation, resource, subresource, object, old } = request;
    if ((operation !== 'CREATE' && operation !== 'UPDATE') || !object) return;
    // Nodes write the status of pods and may not delete them.
    if (resource.group === '' && resource.name === 'pods' && subresource === 'status') return;
    const [owners, before] = [ownersOf(object), ownersOf(old)];
    if (old ? equal(owners, before) : owners.length === 0) return;
    if (operation === 'UPDATE') await insistOnDelete(request);
    const blocking = newlyBlocking(owners, before);
    if (blocking.length === 0 || (await mayFinalizeEverything(request))) return;
    for (const owner of blocking) await insistOnFinalizers(request, owner);
  },
};

const ownersOf = (object: KubeObject | undefined): readonly OwnerReference[] => object?.metadata.ownerReferences ?? [];

function newlyBlocking(owners: readonly OwnerReference[], before: readonly OwnerReference[]): OwnerReference[] {
  const blocked = new Set(before.filter((one) => one.blockOwnerDeletion === true).map(({ uid }) => uid));
  return owners.filter((one) => one.blockOwnerDeletion === true && !blocked.has(one.uid));
}

interface Asked {
  readonly verb: ResourceRequest['verb'];
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/** Returns undefined if allowed, otherwise the reason, which may be empty. */
async function refusal({ user, guard }: AdmissionRequest, asked: Asked): Promise<string | undefined> {
  const { decision, reason, error } = await guard.judge(user, { isResource: true, rest: '', ...asked });
  return decision === 'allow' ? undefined : `${reason}, ${error?.message ?? '<nil>'}`;
}

async function insistOnDelete(request: AdmissionRequest): Promise<void> {
  const { resource, namespace, name, subresource } = request;
  const { group, version } = resource;
  const asked = { verb: 'delete', group, version, resource: resource.name, namespace, name, subresource } as const;
  const reason = await refusal(request, asked);
  if (reason !== undefined) throw forbid(request, `cannot set an ownerRef on a resource you can't delete: ${reason}`);
}

async function mayFinalizeEverything(request: AdmissionRequest): Promise<boolean> {
  const all = { group: '*', version: '*', resource: '*', namespace: '', name: '*' };
  return (await refusal(request, { verb: 'update', ...all, subresource: 'finalizers' })) === undefined;
}

async function insistOnFinalizers(
  request: AdmissionRequest,
  { apiVersion, kind, name }: OwnerReference,
): Promise<void> {
  const { group, version } = parseApiVersion(apiVersion);
  const served = request.plane.catalogue.groups
    .find((one) => one.name === group)
    ?.versions.find((one) => one.name === version)
    ?.resources.find((one) => one.kind === kind && !one.name.includes('/'));
  if (!served) {
    throw forbid(
      request,
      `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind "${kind}" in version "${apiVersion}"`,
    );
  }
  const namespace = served.namespaced ? request.namespace : '';
  const asked = {
    verb: 'update',
    group,
    version,
    resource: served.name,
    namespace,
    name,
    subresource: 'finalizers',
  } as const;
  const reason = await refusal(request, asked);
  if (reason === undefined) return;
  throw forbid(
    request,
    `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}`,
  );
}
