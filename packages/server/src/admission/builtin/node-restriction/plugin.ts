/**
 * Restricts a node to its own objects: its Node, Lease and CSINode, the pods that run on it, and tokens for those pods. A compromised node
 * gains no further access.
 */

import { certificateRequestSubject, quote } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { User } from '../../../auth/user.ts';
import type { ControlPlane } from '../../../control-plane.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../admission.ts';
import { equal } from '../equal.ts';
import { forbid } from '../../refusal.ts';
import { checkNode } from './node-objects.ts';
import { checkPod, checkPodEviction, checkPodStatus } from './pods.ts';
import { checkToken } from './tokens.ts';

/** A request made by the node of this name. */
export interface NodeRequest {
  readonly plane: ControlPlane;
  readonly node: string;
  readonly request: AdmissionRequest;
}

type Rule = (asked: NodeRequest) => void | Promise<void>;

const userPrefix = 'system:node:';
const group = 'system:nodes';

/** Returns undefined if the user is not a node. */
export function nodeNameOf({ name, groups }: User): string | undefined {
  return name.startsWith(userPrefix) && groups.includes(group) ? name.slice(userPrefix.length) : undefined;
}

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['/pods', pods],
  ['/nodes', checkNode],
  ['/persistentvolumeclaims', checkClaim],
  ['/serviceaccounts', checkToken],
  ['certificates.k8s.io/podcertificaterequests', refusePodCertificates],
  ['coordination.k8s.io/leases', checkLease],
  [
    'storage.k8s.io/csinodes',
    (asked) => checkOwnName(asked, 'can only access CSINode with the same name as the requesting node'),
  ],
  ['resource.k8s.io/resourceslices', checkSlice],
  ['certificates.k8s.io/certificatesigningrequests', checkSigningRequest],
]);

export const nodeRestriction = (plane: ControlPlane): AdmissionPlugin => ({
  name: 'NodeRestriction',
  resources: new Set(rules.keys()),
  mutate(request) {
    if (request.operation === 'CONNECT') return undefined;
    const node = nodeNameOf(request.user);
    if (node === undefined) return undefined;
    if (node === '') throw forbid(request, `could not determine node from user ${quote(request.user.name)}`);
    const { resource } = request;
    return rules.get(`${resource.group}/${resource.name}`)!({ plane, node, request });
  },
});

function pods(asked: NodeRequest): void | Promise<void> {
  const { subresource } = asked.request;
  switch (subresource) {
    case '':
      return checkPod(asked);
    case 'status':
      return checkPodStatus(asked);
    case 'eviction':
      return checkPodEviction(asked);
    default:
      throw forbid(
        asked.request,
        `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`,
      );
  }
}

function checkClaim({ request, node }: NodeRequest): void {
  if (request.subresource !== 'status') throw forbid(request, 'may only update PVC status');
  if (request.operation !== 'UPDATE') throw forbid(request, `unexpected operation ${quote(request.operation)}`);
  if (equal(withoutSizes(request.object!), withoutSizes(request.old!))) return;
  throw forbid(
    request,
    `node ${quote(node)} is not allowed to update fields other than status.quantity and status.conditions`,
  );
}

/** Strips the fields that a node may change when it resizes a volume. */
function withoutSizes({ metadata, ...rest }: KubeObject): unknown {
  const { resourceVersion: _, managedFields: __, ...others } = metadata;
  const status: Record<string, unknown> = { ...(rest['status'] as object | undefined) };
  for (const name of ['capacity', 'conditions', 'allocatedResources', 'allocatedResourceStatuses']) delete status[name];
  return { ...rest, status, metadata: others };
}

function refusePodCertificates({ request }: NodeRequest): void {
  throw forbid(request, 'PodCertificateRequest feature gate is disabled');
}

function checkLease(asked: NodeRequest): void {
  const { request } = asked;
  if (request.namespace !== 'kube-node-lease') {
    throw forbid(request, 'can only access leases in the "kube-node-lease" system namespace');
  }
  checkOwnName(asked, 'can only access node lease with the same name as the requesting node');
}

function checkOwnName({ request, node }: NodeRequest, otherwise: string): void {
  const name = request.operation === 'CREATE' ? request.object!.metadata.name : request.name;
  if (name !== node) throw forbid(request, otherwise);
}

function checkSlice({ request, node }: NodeRequest): void {
  const { operation } = request;
  if (operation !== 'CREATE' && operation !== 'DELETE') return;
  const slice = (operation === 'CREATE' ? request.object : request.old) as { spec?: { nodeName?: string | null } };
  if (slice.spec?.nodeName === node) return;
  throw forbid(
    request,
    `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`,
  );
}

const nodeSigners: ReadonlySet<string | undefined> = new Set([
  'kubernetes.io/kubelet-serving',
  'kubernetes.io/kube-apiserver-client-kubelet',
]);

function checkSigningRequest({ request, node }: NodeRequest): void {
  if (request.operation !== 'CREATE') return;
  const { spec } = request.object as { spec?: { signerName?: string; request?: string } };
  if (!nodeSigners.has(spec?.signerName)) return;
  const subject = certificateRequestSubject(Buffer.from(spec?.request ?? '', 'base64').toString('latin1'));
  if (!subject) throw forbid(request, 'unable to parse csr: PEM block type must be CERTIFICATE REQUEST');
  if (subject.commonName === `${userPrefix}${node}`) return;
  throw forbid(request, `can only create a node CSR with CN=${userPrefix}${node}`);
}
