/**
 * Approves requests of kubelets for serving certificates: a node may have a certificate for the names and addresses in the status of its
 * own Node object. The API server verifies kubelets with such certificates. kube-controller-manager leaves these requests to users.
 *
 * The CA also issues the certificate of the API server, and a node writes its own addresses. Therefore a name or address of the API server
 * or of a service, a wildcard, a loopback address, or a name or address of another node is never approved here.
 */

import { BlockList, isIPv6 } from 'node:net';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { ConfigMap, Endpoints, Node, Service } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import type { RequestedCertificate } from '@hangar/pki';
import type { Request, Result } from '@hangar/runtime';
import { rootCluster } from '../contract.ts';
import type { Ask, Change, ControllerContext, FleetController, ResourceId } from '../contract.ts';
import { unlessOvertaken } from '../shared/refusals.ts';
import { isSigningRequest } from './change.ts';
import { hasCondition, isIssued, requestedBy, usageNames } from './request.ts';
import { kubeletServingProblem, kubeletServingSigner } from './signers.ts';

const userPrefix = 'system:node:';

export class KubeletServingApproverController implements FleetController {
  readonly name = 'kubelet-serving-approver';
  readonly isHome = true;

  wants(id: ResourceId): boolean {
    return isSigningRequest(id);
  }

  changed(change: Change, ask: Ask): void {
    const { cluster, name, type } = change;
    if (type !== 'put' || cluster === rootCluster) return;
    if (isWaiting(change.object() as unknown as CertificateSigningRequest)) ask({ cluster, name });
  }

  async reconcile({ name }: Request, { client, signal }: ControllerContext): Promise<Result | void> {
    const csr = await find(client, CertificateSigningRequest, { name }, { signal });
    if (!csr || !isWaiting(csr)) return;
    const request = requestOfNode(csr);
    if (!request) return;
    // The kubelet may report its addresses later. The retries end with the request, which is deleted after a day.
    if (!(await isOfItsNode(client, csr.spec.username!, request, signal))) return { requeue: true };
    const conditions = [...(csr.status?.conditions ?? []), approval];
    const approved = { ...csr, status: { ...csr.status, conditions } };
    await unlessOvertaken(client.subresource('approval').update(CertificateSigningRequest, approved, { signal }));
  }
}

const approval = {
  type: 'Approved',
  status: 'True',
  reason: 'AutoApproved',
  message: 'Auto approving kubelet serving certificate: its names and addresses are those of the node.',
} as const;

const isWaiting = (csr: CertificateSigningRequest): boolean =>
  csr.spec.signerName === kubeletServingSigner &&
  !isIssued(csr) &&
  !hasCondition(csr, 'Approved') &&
  !hasCondition(csr, 'Denied');

/** Undefined: it is not the request of a node for itself, or the signer would reject it. */
function requestOfNode(csr: CertificateSigningRequest): RequestedCertificate | undefined {
  try {
    const request = requestedBy(csr);
    const { username = '', groups = [] } = csr.spec;
    const isForItself = username === request.subject.commonName && groups.includes('system:nodes');
    return isForItself && kubeletServingProblem(request, usageNames(csr)) === undefined ? request : undefined;
  } catch (error) {
    // A request that cannot be parsed is not approved automatically.
    if (hasCode(error, 'MalformedRequest') || hasCode(error, 'InvalidSignature')) return undefined;
    throw error;
  }
}

async function isOfItsNode(
  client: Client,
  username: string,
  request: RequestedCertificate,
  signal: AbortSignal,
): Promise<boolean> {
  const nodeName = username.slice(userPrefix.length);
  const wanted = [...request.dnsNames.map((name) => name.toLowerCase()), ...request.ipAddresses.map(addressText)];
  const reserved = await serverNames(client, signal);
  if (wanted.some((one) => reserved.has(one) || isLoopback(one) || isServiceName(one))) return false;
  const { items } = await client.list(Node, { signal });
  const own = addressesOf(items.find(({ metadata }) => metadata.name === nodeName));
  const foreign = new Set(
    items
      .filter(({ metadata }) => metadata.name !== nodeName)
      .flatMap((one) => [one.metadata.name!, ...addressesOf(one)]),
  );
  return wanted.every((one) => own.has(one) && !foreign.has(one));
}

const addressesOf = (node: Node | undefined): Set<string> =>
  new Set((node?.status?.addresses ?? []).map(({ address = '' }) => normalized(address)));

/** Names and addresses of the service `kubernetes` and of the servers behind it, and the host that nodes join at. */
async function serverNames(client: Client, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const key = { namespace: 'default', name: 'kubernetes' };
  const [service, endpoints, info] = await Promise.all([
    find(client, Service, key, { signal }),
    find(client, Endpoints, key, { signal }),
    find(client, ConfigMap, { namespace: 'kube-public', name: 'cluster-info' }, { signal }),
  ]);
  const { clusterIP = '', clusterIPs = [] } = service?.spec ?? {};
  const servers = (endpoints?.subsets ?? []).flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip));
  const joined = /^ *server: *(\S+)$/m.exec(info?.data?.['kubeconfig'] ?? '')?.[1] ?? '';
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];
  return new Set([...names, ...[clusterIP, ...clusterIPs, ...servers, hostOf(joined)].map(normalized)]);
}

const hostOf = (url: string): string => (URL.parse(url)?.hostname ?? '').replace(/^\[|\]$/g, '');

/** Webhooks and aggregated servers are verified by such names. */
const isServiceName = (one: string): boolean => /\*|\.svc\.?$|\.cluster\.local\.?$/.test(one);

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const isLoopback = (one: string): boolean => one === 'localhost' || loopback.check(one, isIPv6(one) ? 'ipv6' : 'ipv4');

const addressText = (bytes: Buffer): string =>
  bytes.length === 4
    ? bytes.join('.')
    : normalized(Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16)).join(':'));

/**
 * Names in lower case, IPv6 addresses in their shortest form. An IPv4 address that is mapped to IPv6 is that IPv4 address: clients in Go
 * compare them so.
 */
function normalized(address: string): string {
  if (!isIPv6(address)) return address.toLowerCase();
  const short = URL.parse(`https://[${address}]`)?.hostname.slice(1, -1) ?? address;
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(short);
  if (!mapped) return short;
  return mapped
    .slice(1)
    .flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255])
    .join('.');
}
