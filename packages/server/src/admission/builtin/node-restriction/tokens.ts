/** Lets a node request tokens for pods that run on it, for the audiences that those pods use. */

import { notFound, quote } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../../control-plane.ts';
import type { ResourceRequest } from '../../../request/info.ts';
import { read } from '../lookup.ts';
import { specOf } from '../pod.ts';
import type { List, Volume } from '../pod.ts';
import { aggregate, forbid } from '../../refusal.ts';
import { pods } from './pods.ts';
import type { NodeRequest } from './plugin.ts';

interface TokenRequest extends KubeObject {
  spec?: {
    audiences?: List<string>;
    boundObjectRef?: { apiVersion?: string; kind?: string; name?: string; uid?: string } | null;
  };
}

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const volumes = { group: '', version: 'v1', resource: 'persistentvolumes' };
const drivers = { group: 'storage.k8s.io', version: 'v1', resource: 'csidrivers' };

export async function checkToken(asked: NodeRequest): Promise<void> {
  const { plane, request, node } = asked;
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return;
  const { boundObjectRef: bound, audiences } = (request.object as TokenRequest).spec ?? {};
  if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name) {
    throw forbid(request, 'node requested token not bound to a pod');
  }
  if (!bound.uid) throw forbid(request, 'node requested token with a pod binding without a uid');
  const pod = await read(plane, pods, request.namespace, bound.name);
  if (!pod) throw notFound({ group: '', resource: 'pod' }, bound.name);
  if (bound.uid !== pod.metadata.uid) {
    throw forbid(
      request,
      `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (specOf(pod).nodeName !== node) {
    throw forbid(request, 'node requested token bound to a pod scheduled on a different node');
  }
  if ((audiences?.length ?? 0) > 1) throw forbid(request, 'node may only request 0 or 1 audiences');
  await checkAudience(asked, pod, audiences?.[0] ?? '');
}

async function checkAudience({ plane, request }: NodeRequest, pod: KubeObject, audience: string): Promise<void> {
  const problems: string[] = [];
  for (const volume of specOf(pod).volumes ?? []) {
    const found = await asks(plane, pod, volume, audience);
    if (found === true) return;
    if (found !== false) problems.push(found);
  }
  if (problems.length > 0) {
    throw forbid(request, `error validating audience ${quote(audience)}: ${aggregate(problems)}`);
  }
  const { user, guard, namespace, name } = request;
  const info: ResourceRequest = {
    isResource: true,
    // Not a verb of any request: used only in rules.
    verb: 'request-serviceaccounts-token-audience' as ResourceRequest['verb'],
    group: '',
    version: 'v1',
    resource: audience,
    namespace,
    name,
    subresource: '',
    rest: '',
  };
  if ((await guard.decide(user, info)) === 'allow') return;
  throw forbid(
    request,
    `audience ${quote(audience)} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`,
  );
}

/** Reports whether the volume needs a token for the audience. Returns a message if that is unknown. */
async function asks(plane: ControlPlane, pod: KubeObject, volume: Volume, audience: string): Promise<boolean | string> {
  if (
    volume.projected?.sources?.some(
      (one) => one.serviceAccountToken && (one.serviceAccountToken.audience ?? '') === audience,
    )
  ) {
    return true;
  }
  const driver = await driverOf(plane, pod, volume);
  if (typeof driver !== 'string') return driver?.problem ?? false;
  if (driver === '') return false;
  const object = await read(plane, drivers, '', driver);
  if (!object) return notFound({ group: 'storage.k8s.io', resource: 'csidriver' }, driver).message;
  const { tokenRequests } = (object['spec'] ?? {}) as { tokenRequests?: List<{ audience?: string }> };
  return tokenRequests?.some((one) => (one.audience ?? '') === audience) ?? false;
}

/** Returns the name of the CSI driver of a volume; empty if it has none. */
async function driverOf(
  plane: ControlPlane,
  { metadata }: KubeObject,
  volume: Volume,
): Promise<string | { problem: string } | undefined> {
  const claimName = volume.ephemeral?.volumeClaimTemplate
    ? `${metadata.name}-${volume.name ?? ''}`
    : volume.persistentVolumeClaim?.claimName;
  if (claimName === undefined) return volume.csi?.driver ?? '';
  const claim = await read(plane, claims, metadata.namespace!, claimName);
  if (!claim) return { problem: notFound({ group: '', resource: 'persistentvolumeclaim' }, claimName).message };
  const { volumeName = '' } = (claim['spec'] ?? {}) as { volumeName?: string };
  const found = await read(plane, volumes, '', volumeName);
  if (!found) return { problem: notFound({ group: '', resource: 'persistentvolume' }, volumeName).message };
  return (found['spec'] as { csi?: { driver?: string } } | undefined)?.csi?.driver ?? '';
}
