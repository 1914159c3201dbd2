/** The built-in signers of Kubernetes and their rules. The messages are those of Kubernetes. */

import type { RequestedCertificate } from '@hangar/pki';

export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';

/** Returns undefined if the request can be signed. */
type Check = (request: RequestedCertificate, usages: ReadonlySet<string>) => string | undefined;

/** Requests for other signers are handled elsewhere. */
export const signers: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['kubernetes.io/kube-apiserver-client', (_request, usages) => clientUsagesProblem(usages)],
  [kubeletClientSigner, kubeletClientProblem],
  [kubeletServingSigner, kubeletServingProblem],
  // Signs any request: kept by Kubernetes for clients from before signers had names.
  ['kubernetes.io/legacy-unknown', () => undefined],
]);

const ofClients: ReadonlySet<string> = new Set(['digital signature', 'key encipherment', 'client auth']);

function clientUsagesProblem(usages: ReadonlySet<string>): string | undefined {
  for (const usage of usages) {
    if (!ofClients.has(usage)) return `invalid usage for client certificate: ${usage}`;
  }
  return usages.has('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}

export function kubeletClientProblem(request: RequestedCertificate, usages: ReadonlySet<string>): string | undefined {
  if (!isOfNodes(request)) return 'subject organization is not system:nodes';
  if (request.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  if (!isOfNode(request)) return 'subject common name does not begin with system:node:';
  return nodeUsagesProblem(usages, 'client auth');
}

export function kubeletServingProblem(request: RequestedCertificate, usages: ReadonlySet<string>): string | undefined {
  if (!isOfNodes(request)) return 'subject organization is not system:nodes';
  if (request.dnsNames.length === 0 && request.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  const problem = nodeUsagesProblem(usages, 'server auth');
  return problem ?? (isOfNode(request) ? undefined : 'subject common name does not begin with system:node:');
}

const isOfNodes = ({ subject: { organizations } }: RequestedCertificate): boolean =>
  organizations.length === 1 && organizations[0] === 'system:nodes';

const isOfNode = ({ subject }: RequestedCertificate): boolean => subject.commonName.startsWith('system:node:');

/** Accepts usages with or without `key encipherment`, which only RSA needs. */
function nodeUsagesProblem(usages: ReadonlySet<string>, purpose: string): string | undefined {
  const required = new Set(['digital signature', purpose]);
  const withKeys = new Set([...required, 'key encipherment']);
  if (isSame(usages, required) || isSame(usages, withKeys)) return undefined;
  return `usages did not match [${[...withKeys].sort().join(' ')}]`;
}

const isSame = (some: ReadonlySet<string>, others: ReadonlySet<string>): boolean =>
  some.size === others.size && some.isSubsetOf(others);
