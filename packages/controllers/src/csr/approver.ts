/**
 * Approves requests of kubelets for client certificates, if the requestor is authorized: a node for its own renewal (`selfnodeclient`), a
 * bootstrapper for a new node (`nodeclient`). The control plane authorizes them by a SubjectAccessReview. All other requests wait for an
 * approval by a user.
 */

import { find } from '@hangar/client';
import { SubjectAccessReview } from '@hangar/client/kinds/authorization-v1';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { hasCode } from '@hangar/core';
import type { Request, Result } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, FleetController, ResourceId } from '../contract.ts';
import { unlessOvertaken } from '../shared/refusals.ts';
import { isSigningRequest } from './change.ts';
import { hasCondition, isIssued, requestedBy, usageNames } from './request.ts';
import { kubeletClientProblem, kubeletClientSigner } from './signers.ts';

interface Recognized {
  readonly subresource: string;
  readonly message: string;
}

const selfNodeClient: Recognized = {
  subresource: 'selfnodeclient',
  message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
};
const nodeClient: Recognized = {
  subresource: 'nodeclient',
  message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
};

export class CsrApproverController implements FleetController {
  readonly name = 'csr-approver';

  wants(id: ResourceId): boolean {
    return isSigningRequest(id);
  }

  changed(change: Change, ask: Ask): void {
    const { cluster, name, type } = change;
    if (type === 'put' && isWaiting(change.object() as unknown as CertificateSigningRequest)) ask({ cluster, name });
  }

  async reconcile({ name }: Request, context: ControllerContext): Promise<Result | void> {
    const { client, signal } = context;
    const csr = await find(client, CertificateSigningRequest, { name }, { signal });
    if (!csr || !isWaiting(csr)) return;
    const recognized = recognizedAs(csr);
    for (const one of recognized) {
      if (!(await isAllowed(csr, one, context))) continue;
      const conditions = [...(csr.status?.conditions ?? []), approval(one)];
      const approved = { ...csr, status: { ...csr.status, conditions } };
      await unlessOvertaken(client.subresource('approval').update(CertificateSigningRequest, approved, { signal }));
      return;
    }
    // They may be authorized later. The retries end with the request, which is deleted after a day.
    return recognized.length > 0 ? { requeue: true } : undefined;
  }
}

/** Reports whether the request of a kubelet is pending. All others are not decided here. */
const isWaiting = (csr: CertificateSigningRequest): boolean =>
  csr.spec.signerName === kubeletClientSigner &&
  !isIssued(csr) &&
  !hasCondition(csr, 'Approved') &&
  !hasCondition(csr, 'Denied');

function recognizedAs(csr: CertificateSigningRequest): Recognized[] {
  try {
    const request = requestedBy(csr);
    if (kubeletClientProblem(request, usageNames(csr)) !== undefined) return [];
    return csr.spec.username === request.subject.commonName ? [selfNodeClient, nodeClient] : [nodeClient];
  } catch (error) {
    // A request that cannot be parsed is not approved automatically.
    if (hasCode(error, 'MalformedRequest') || hasCode(error, 'InvalidSignature')) return [];
    throw error;
  }
}

async function isAllowed(
  { spec }: CertificateSigningRequest,
  { subresource }: Recognized,
  { client, signal }: ControllerContext,
): Promise<boolean> {
  const { status } = await client.create(
    SubjectAccessReview,
    {
      metadata: {},
      spec: {
        user: spec.username ?? '',
        uid: spec.uid ?? '',
        groups: spec.groups ?? [],
        extra: spec.extra ?? {},
        resourceAttributes: {
          group: 'certificates.k8s.io',
          version: '*',
          resource: 'certificatesigningrequests',
          subresource,
          verb: 'create',
        },
      },
    },
    { signal },
  );
  return status?.allowed === true;
}

const approval = ({ message }: Recognized) =>
  ({ type: 'Approved', status: 'True', reason: 'AutoApproved', message }) as const;
