/** testing: a management cluster and a remote one, both in process. Providers open their clusters as clients of the remote one. */

import { defineKind, RestClient } from '@hangar/client';
import type { Client, ClusterConfig, UnknownObject } from '@hangar/client';
import { fastClock } from '@hangar/core/testing';
import { faultyTransport, startTestCluster } from '@hangar/testkit';
import type { FaultyTransport } from '@hangar/testkit';
import type { ClusterOptions } from '../open-cluster.ts';

const definitionKind = defineKind<UnknownObject>({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  isNamespaced: false,
});

export const namespaceKind = defineKind<UnknownObject>({
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  isNamespaced: false,
});

export const secretKind = defineKind<UnknownObject>({
  apiVersion: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  isNamespaced: true,
});

export const configMapKind = defineKind<UnknownObject>({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  isNamespaced: true,
});

export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
}

export interface Management extends AsyncDisposable {
  /** Client of the test. */
  readonly client: Client;
  /** Client of the provider, behind `faults`. */
  readonly watched: Client;
  readonly faults: FaultyTransport;
  /** Configurations with which the provider connected to clusters. */
  readonly configs: Map<string, ClusterConfig>;
  readonly clusterOptions: ClusterOptions;
  define(kind: CustomKind): Promise<void>;
  makeNamespace(name: string): Promise<void>;
  /** Creates or replaces the Secret. */
  putSecret(namespace: string, name: string, data: Record<string, string>, labels?: object): Promise<void>;
}

export async function startManagement(): Promise<Management> {
  const own = await startTestCluster();
  const remote = await startTestCluster();
  const faults = faultyTransport(own.transportOf());
  const configs = new Map<string, ClusterConfig>();
  const { client } = own;
  return {
    client,
    // Its retries are only waited for.
    watched: new RestClient(faults, { clock: fastClock() }),
    faults,
    configs,
    clusterOptions: {
      connect(config, name) {
        configs.set(name, config);
        return new RestClient(remote.transportOf());
      },
    },
    define: (kind) => define(client, kind),
    async makeNamespace(name) {
      await client.create(namespaceKind, { metadata: { name } });
    },
    async putSecret(namespace, name, data, labels = {}) {
      const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
      const body = { metadata: { namespace, name, labels }, data: Object.fromEntries(encoded) };
      await client.apply(secretKind, body as never, { fieldManager: 'test', force: true });
    },
    async [Symbol.asyncDispose]() {
      await own[Symbol.asyncDispose]();
      await remote[Symbol.asyncDispose]();
    },
  };
}

/** Resolves when its objects can be created. */
async function define(client: Client, { group, version, kind, plural, isNamespaced }: CustomKind): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await client.create(definitionKind, {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: isNamespaced ? 'Namespaced' : 'Cluster',
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  });
  const names = { apiVersion: `${group}/${version}`, kind, plural, isNamespaced };
  for (;;) {
    try {
      await client.list(defineKind(names));
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

/** Never verified. */
const authority = Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64');

export const kubeconfig = (server: string, user: object = { token: 'secret' }): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
