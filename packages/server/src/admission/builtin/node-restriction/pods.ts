/** Lets a node create mirror pods, update the status of its pods and delete them. Denies pods that reference other objects. */

import { notFound, quote } from '@hangar/api';
import { equal } from '../equal.ts';
import { read } from '../lookup.ts';
import { isMirror, mirrorAnnotation, specOf } from '../pod.ts';
import type { Pod } from '../pod.ts';
import { forbid } from '../../refusal.ts';
import { referenceOf } from './pod-references.ts';
import type { NodeRequest } from './plugin.ts';

const nodes = { group: '', version: 'v1', resource: 'nodes' };
export const pods = { group: '', version: 'v1', resource: 'pods' };

export async function checkPod(asked: NodeRequest): Promise<void> {
  const { request, node } = asked;
  switch (request.operation) {
    case 'CREATE':
      return checkMirror(asked);
    case 'DELETE':
      if (specOf(request.old!).nodeName === node) return;
      throw forbid(request, `node ${quote(node)} can only delete pods with spec.nodeName set to itself`);
    default:
      throw forbid(
        request,
        `unexpected operation ${quote(request.operation)}, node ${quote(node)} can only create and delete mirror pods`,
      );
  }
}

async function checkMirror(asked: NodeRequest): Promise<void> {
  const { plane, request, node } = asked;
  const pod = request.object as Pod;
  const refuse = (why: string): Error => forbid(request, `node ${quote(node)} ${why}`);
  if (!isMirror(pod)) {
    throw forbid(
      request,
      `pod does not have ${quote(mirrorAnnotation)} annotation, node ${quote(node)} can only create mirror pods`,
    );
  }
  if (specOf(pod).nodeName !== node) throw refuse('can only create pods with spec.nodeName set to itself');
  const owners = pod.metadata.ownerReferences ?? [];
  const [owner] = owners;
  if (owners.length > 1) throw refuse('can only create pods with a single owner reference set to itself');
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    throw refuse('can only create pods with an owner reference set to itself');
  }
  if (owner.controller !== true) throw refuse('can only create pods with a controller owner reference set to itself');
  if (owner.blockOwnerDeletion === true) throw refuse('must not set blockOwnerDeletion on an owner reference');
  const object = await read(plane, nodes, '', node);
  if (!object) throw notFound({ group: '', resource: 'node' }, node);
  const { uid } = object.metadata;
  if (owner.uid !== uid) throw forbid(request, `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`);
  const reference = referenceOf(specOf(pod));
  if (reference?.isUnknown) throw forbid(request, `error checking mirror pod for API references: ${reference.what}`);
  if (reference) throw refuse(`can not create pods that reference ${reference.what}`);
}

export function checkPodStatus({ request, node }: NodeRequest): void {
  if (request.operation !== 'UPDATE') throw forbid(request, `unexpected operation ${quote(request.operation)}`);
  const [pod, old] = [request.object as Pod, request.old as Pod];
  const refuse = (why: string): Error => forbid(request, `node ${quote(node)} ${why}`);
  if (specOf(old).nodeName !== node) {
    throw refuse('can only update pod status for pods with spec.nodeName set to itself');
  }
  if (!equal(pod.metadata.labels, old.metadata.labels)) throw refuse('cannot update labels through pod status');
  if (!equal(pod.status?.resourceClaimStatuses, old.status?.resourceClaimStatuses)) {
    throw refuse('cannot update resource claim statues');
  }
  if (!equal(pod.status?.extendedResourceClaimStatus, old.status?.extendedResourceClaimStatus)) {
    throw refuse('cannot update extended resource claim status');
  }
}

export async function checkPodEviction({ plane, request, node }: NodeRequest): Promise<void> {
  if (request.operation !== 'CREATE') throw forbid(request, `unexpected operation ${request.operation}`);
  const name = request.name || request.object?.metadata.name || '';
  if (name === '') throw forbid(request, 'could not determine pod from request data');
  const pod = await read(plane, pods, request.namespace, name);
  if (!pod) throw notFound({ group: '', resource: 'pod' }, name);
  if (specOf(pod).nodeName === node) return;
  throw forbid(request, `node ${node} can only evict pods with spec.nodeName set to itself`);
}
