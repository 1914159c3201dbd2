/** Requests that the built-in signers of Kubernetes reject although they are approved. */

import { certificateRequest } from '@hangar/pki/testing';

export const clientUsages = ['digital signature', 'key encipherment', 'client auth'] as const;
export const servingUsages = ['digital signature', 'key encipherment', 'server auth'] as const;

export interface WantedSpec {
  readonly signerName: string;
  readonly request: string;
  readonly usages: readonly string[];
}

const client = 'kubernetes.io/kube-apiserver-client';
const kubelet = 'kubernetes.io/kube-apiserver-client-kubelet';
const serving = 'kubernetes.io/kubelet-serving';
const nodes = ['system:nodes'];
const ofNode = (options = {}): string => certificateRequest('system:node:one', nodes, options);

const asClient = (request: string, usages: readonly string[]): WantedSpec => ({ signerName: client, request, usages });
const asKubelet = (request: string, usages: readonly string[] = clientUsages): WantedSpec => ({
  signerName: kubelet,
  request,
  usages,
});
const asServer = (request: string, usages: readonly string[] = servingUsages): WantedSpec => ({
  signerName: serving,
  request,
  usages,
});

export const refusedRequests: Readonly<Record<string, WantedSpec>> = {
  'client with another usage': asClient(certificateRequest('jane'), [...clientUsages, 'server auth']),
  'client without its usage': asClient(certificateRequest('jane'), ['digital signature']),
  'kubelet of no node': asKubelet(certificateRequest('jane', nodes)),
  'kubelet in more groups': asKubelet(certificateRequest('system:node:one', [...nodes, 'more'])),
  'kubelet in no group': asKubelet(certificateRequest('system:node:one')),
  'kubelet with a name': asKubelet(ofNode({ dnsNames: ['one.example'] })),
  'kubelet with a mail address': asKubelet(ofNode({ emailAddresses: ['a@b.example'] })),
  'kubelet with an address': asKubelet(ofNode({ ipAddresses: [Buffer.of(10, 0, 0, 1)] })),
  'kubelet with a place': asKubelet(ofNode({ uris: ['spiffe://one.example'] })),
  'kubelet with other usages': asKubelet(ofNode(), servingUsages),
  'kubelet with more usages': asKubelet(ofNode(), [...clientUsages, 'server auth']),
  'serving without a name': asServer(ofNode()),
  'serving with a mail address': asServer(ofNode({ dnsNames: ['one.example'], emailAddresses: ['a@b.example'] })),
  'serving with a place': asServer(ofNode({ dnsNames: ['one.example'], uris: ['spiffe://one.example'] })),
  'serving of no node': asServer(certificateRequest('jane', nodes, { dnsNames: ['one.example'] })),
  'serving with other usages': asServer(ofNode({ dnsNames: ['one.example'] }), clientUsages),
};
