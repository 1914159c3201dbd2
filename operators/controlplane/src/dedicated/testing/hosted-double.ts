/**
 * Does what the operator of hosted control planes does, as far as the operator of control planes sees it: a HostedControlPlane gets an
 * address, a kubeconfig and conditions, and its API is a cluster in the process of the test, whose certificates are signed.
 */

import type { ApiObject, Client, ClusterConfig, HttpTransport, Kind } from '@hangar/client';
import { find } from '@hangar/client';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { Secret } from '@hangar/client/kinds/core-v1';
import { assert, hasCode, systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate, kubeconfig, readCertificateRequest, signRequest } from '@hangar/pki';
import { isConditionTrue } from '@hangar/runtime';
import { installCrd, startTestFleet } from '@hangar/testkit';
import {
  HostedControlPlane,
  HostedControlPlaneTemplate,
  hostedGroup,
  stoppedAnnotation,
  stoppedCondition,
} from '../hosted-control-plane.ts';
import type { HostedControlPlaneObject } from '../hosted-control-plane.ts';

const world = { clock: systemClock, random: systemRandom };
const finalizer = 'hosted.hangar.dev/deletion-order';
const domain = 'hosted.test';
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const clientAuthentication = '1.3.6.1.5.5.7.3.2';
const digitalSignature = 1;
const dayMs = 86_400_000;

const definition = ({ kind, plural }: Kind<ApiObject>) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${plural}.${hostedGroup}`,
    // Groups of k8s.io require an approval.
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' },
  },
  spec: {
    group: hostedGroup,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } },
      },
    ],
  },
});

/** Resolves when both kinds are served. */
export async function installHosted(client: Client): Promise<void> {
  for (const kind of [HostedControlPlane, HostedControlPlaneTemplate] as unknown as Kind<ApiObject>[]) {
    await installCrd(client, definition(kind));
  }
}

export interface HostedDouble extends AsyncDisposable {
  /** An administrator's client of the API of a HostedControlPlane. */
  inside(name: string): Promise<Client>;
  /** For the operator under test. */
  transport(config: ClusterConfig): HttpTransport;
}

/** `holdBack`: HostedControlPlanes whose name matches stay without an address. */
export async function hostedDouble(
  client: Client,
  { holdBack }: { readonly holdBack?: RegExp } = {},
): Promise<HostedDouble> {
  const fleet = await startTestFleet({ clusters: [] });
  const ending = new AbortController();
  const { signal } = ending;
  const authority = createAuthority('hosted', 30, world);
  const clusters = new Map<string, Promise<Client>>();
  const running: Promise<unknown>[] = [];
  const clusterOf = (name: string): Promise<Client> => {
    let cluster = clusters.get(name);
    if (!cluster) {
      cluster = fleet.createCluster(name);
      clusters.set(name, cluster);
      running.push(cluster.then(sign).catch(() => undefined));
    }
    return cluster;
  };
  /** Every approved request. */
  const sign = async (inside: Client): Promise<void> => {
    const options = { signal, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const };
    for await (const event of inside.watch(CertificateSigningRequest, options)) {
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
      const { metadata, spec, status } = event.object;
      if (!status?.conditions?.some(({ type }) => type === 'Approved') || status.certificate) continue;
      const request = readCertificateRequest(Buffer.from(spec.request, 'base64').toString());
      const notBeforeMs = Date.now() - 60_000;
      const validity = { notBeforeMs, notAfterMs: notBeforeMs + dayMs };
      const usage = { keyUsage: digitalSignature, extendedKeyUsage: [clientAuthentication] };
      const certificate = Buffer.from(signRequest(authority, { request, ...usage, validity }, world)).toString(
        'base64',
      );
      const body = { status: { certificate } };
      await inside.status
        .patch(CertificateSigningRequest, { name: metadata.name! }, { type: 'merge', body })
        .catch(unlessGone);
    }
  };
  const provide = async ({ metadata, spec, status }: HostedControlPlaneObject): Promise<void> => {
    const { namespace = '', name = '', finalizers = [] } = metadata;
    const key = { namespace, name };
    const secretKey = { namespace, name: `${name}-kubeconfig` };
    if (metadata.deletionTimestamp !== undefined) {
      await client.delete(Secret, secretKey).catch(unlessGone);
      await client.patch(HostedControlPlane, key, { type: 'merge', body: { metadata: { finalizers: null } } });
      return;
    }
    if (holdBack?.test(name)) return;
    const endpoint = spec?.controlPlaneEndpoint ?? { host: `${name}.${domain}`, port: 6443 };
    if (!finalizers.includes(finalizer) || !spec?.controlPlaneEndpoint) {
      const body = { metadata: { finalizers: [finalizer] }, spec: { controlPlaneEndpoint: endpoint } };
      await client.patch(HostedControlPlane, key, { type: 'merge', body });
    }
    if (!(await find(client, Secret, secretKey))) {
      const credentials = issueCertificate(
        authority,
        { commonName: 'kubernetes-admin', organizations: ['system:masters'], usage: 'client', days: 30 },
        world,
      );
      const server = `https://${endpoint.host}:${endpoint.port}`;
      const text = kubeconfig({ name, user: 'admin', server, authority: authority.certificate, credentials });
      const data = { value: Buffer.from(text).toString('base64') };
      await client.create(Secret, { metadata: secretKey, data });
    }
    const isStopped = metadata.annotations?.[stoppedAnnotation] === 'true';
    const wasStopped = isConditionTrue(status?.conditions, stoppedCondition);
    if (status?.version === spec?.version && isStopped === wasStopped) return;
    const lastTransitionTime = new Date().toISOString();
    const types = isStopped ? [stoppedCondition] : ['Ready', 'Available'];
    const conditions = types.map((type) => ({
      type,
      status: 'True',
      reason: 'Reconciled',
      message: '',
      lastTransitionTime,
    }));
    const body = {
      status: { initialization: { controlPlaneInitialized: true }, version: spec?.version, conditions },
    };
    await client.status.patch(HostedControlPlane, key, { type: 'merge', body });
  };
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      const options = { signal, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const };
      for await (const event of client.watch(HostedControlPlane, options)) {
        if (event.type === 'ADDED' || event.type === 'MODIFIED') await provide(event.object).catch(unlessGone);
      }
    }
  };
  running.push(follow().catch(() => undefined));
  return {
    inside: clusterOf,
    transport(config) {
      const name = new URL(config.server).hostname.split('.')[0];
      assert(name !== undefined, 'the address has no name');
      const opened = clusterOf(name).then(() => fleet.transportOf(name));
      return {
        host: config.server,
        request: async (request) => (await opened).request(request),
        close: async () => (await opened).close(),
      };
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await Promise.all(running);
      await fleet[Symbol.asyncDispose]();
    },
  };
}

/** `Forbidden`: the namespace is being deleted. */
const codesOfGone = ['NotFound', 'Conflict', 'AlreadyExists', 'Forbidden'];

function unlessGone(error: unknown): void {
  if (!codesOfGone.some((code) => hasCode(error, code))) throw error;
}
