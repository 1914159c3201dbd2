/**
 * Authorizes approving, signing and attesting certificates by signer name, or for all signers of a domain (`example.com/*`). Denies client
 * certificates of the group `system:masters`.
 */

import { certificateRequestSubject, quote } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { mastersGroup } from '../../auth/user.ts';
import type { ResourceRequest } from '../../request/info.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { equal } from './equal.ts';
import { forbid } from '../refusal.ts';

interface SigningRequest extends KubeObject {
  spec?: { signerName?: string; request?: string };
  status?: { certificate?: string | null; conditions?: unknown[] | null };
}

const signingRequests: ReadonlySet<string> = new Set(['certificates.k8s.io/certificatesigningrequests']);
const clientSigner = 'kubernetes.io/kube-apiserver-client';

type Right = 'approve' | 'sign' | 'attest';

async function maySign(request: AdmissionRequest, right: Right, signer: string): Promise<boolean> {
  const { user, guard } = request;
  const info = (name: string): ResourceRequest => ({
    isResource: true,
    // Not a verb of any request: used only in rules.
    verb: right as ResourceRequest['verb'],
    group: 'certificates.k8s.io',
    version: '*',
    resource: 'signers',
    namespace: '',
    name,
    subresource: '',
    rest: '',
  });
  if ((await guard.decide(user, info(signer))) === 'allow') return true;
  return (await guard.decide(user, info(`${signer.split('/')[0]}/*`))) === 'allow';
}

const signerOf = (object: KubeObject): string => (object as SigningRequest).spec?.signerName ?? '';

export const certificateApproval: AdmissionPlugin = {
  name: 'CertificateApproval',
  resources: signingRequests,
  async validate(request) {
    if (request.operation !== 'UPDATE' || request.subresource !== 'approval') return;
    const signer = signerOf(request.old!);
    if (await maySign(request, 'approve', signer)) return;
    throw forbid(request, `user not permitted to approve requests with signerName ${quote(signer)}`);
  },
};

export const certificateSigning: AdmissionPlugin = {
  name: 'CertificateSigning',
  resources: signingRequests,
  async validate(request) {
    if (request.operation !== 'UPDATE' || request.subresource !== 'status') return;
    const [now, before] = [request.object as SigningRequest, request.old as SigningRequest];
    const isSame =
      (now.status?.certificate ?? '') === (before.status?.certificate ?? '') &&
      equal(now.status?.conditions ?? [], before.status?.conditions ?? []);
    const signer = signerOf(before);
    if (isSame || (await maySign(request, 'sign', signer))) return;
    throw forbid(request, `user not permitted to sign requests with signerName ${quote(signer)}`);
  },
};

export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  resources: signingRequests,
  validate(request) {
    if (request.operation !== 'CREATE' || request.subresource !== '') return;
    const { spec } = request.object as SigningRequest;
    if (spec?.signerName !== clientSigner) return;
    const subject = certificateRequestSubject(Buffer.from(spec.request ?? '', 'base64').toString('latin1'));
    if (!subject) throw forbid(request, 'failed to parse CSR: the subject cannot be read');
    if (!subject.organizations.includes(mastersGroup)) return;
    throw forbid(request, `use of ${clientSigner} signer with ${mastersGroup} group is not allowed`);
  },
};

export const clusterTrustBundleAttest: AdmissionPlugin = {
  name: 'ClusterTrustBundleAttest',
  resources: new Set(['certificates.k8s.io/clustertrustbundles']),
  async validate(request) {
    const { operation, object, old } = request;
    if (operation !== 'CREATE' && operation !== 'UPDATE') return;
    const signer = signerOf(object!);
    if (signer === '' || (operation === 'UPDATE' && changesOnlyReferences(object!, old!))) return;
    if (await maySign(request, 'attest', signer)) return;
    throw forbid(request, `user not permitted to attest for signerName ${quote(signer)}`);
  },
};

/** Reports whether only owner references changed, as in writes by the garbage collector. */
function changesOnlyReferences(object: KubeObject, old: KubeObject): boolean {
  const stripped = ({ metadata, ...rest }: KubeObject): unknown => {
    const { ownerReferences: _, finalizers: __, managedFields: ___, resourceVersion: ____, ...others } = metadata;
    return { ...rest, metadata: others };
  };
  return equal(stripped(object), stripped(old));
}
