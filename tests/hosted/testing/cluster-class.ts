/**
 * A ClusterClass of hosted control planes, and a Cluster that the topology controller of Cluster API creates from it.
 *
 *     await createClusterClass(client);
 *     const managed = new ManagedCluster(client, describeAll);
 *     await managed.create({ version: 'v1.36.4', controlPlane: { replicas: 1 } });
 *     await managed.reconciled();
 */

import type { Client } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { HostedControlPlane, HostedControlPlaneTemplate } from '../../../operators/hosted/src/api/index.ts';
import type { HostedControlPlaneTemplateSpec } from '../../../operators/hosted/src/api/index.ts';
import { until } from '../../process-runtime/testing/until.ts';
import { ClusterClass, ClusterV1Beta2 } from './cluster-api-kinds.ts';
import type { Topology } from './cluster-api-kinds.ts';
import { AWSClusterTemplate, provision } from './infrastructure.ts';

type TemplateResource = HostedControlPlaneTemplateSpec['template'];

/** Namespace of the ClusterClass and the Cluster. */
export const namespace = 'classes';
const className = 'hosted';
const key = { namespace, name: 'managed' };

/** Variables of the ClusterClass, and their defaults. */
const variables = { etcdVolumeSize: '1Gi', schedulerVerbosity: '2' };
const variablePaths: Readonly<Record<keyof typeof variables, string>> = {
  etcdVolumeSize: '/spec/template/spec/etcd/volumeSize',
  schedulerVerbosity: '/spec/template/spec/deployment/scheduler/args/v',
};

/** The first template of the ClusterClass. It has only fields that differ from the defaults. */
export const template: TemplateResource = {
  metadata: { labels: { team: 'a' }, annotations: { purpose: 'test' } },
  spec: { etcd: { replicas: 1 }, deployment: { scheduler: { args: { v: '0' } } } },
};

/** Creates the namespace, the templates and the ClusterClass, whose patches write its variables into the template. */
export async function createClusterClass(client: Client): Promise<void> {
  await client.create(Namespace, { metadata: { name: namespace } });
  await createTemplate(client, 'first', template);
  const infrastructure = { template: { spec: { region: 'local' } } };
  await client.create(AWSClusterTemplate, {
    metadata: { namespace, name: className },
    spec: infrastructure,
  } as never);
  const { apiVersion, kind } = HostedControlPlaneTemplate;
  const selector = { apiVersion, kind, matchResources: { controlPlane: true } };
  const { apiVersion: infrastructureVersion, kind: infrastructureKind } = AWSClusterTemplate;
  await client.create(ClusterClass, {
    metadata: { namespace, name: className },
    spec: {
      controlPlane: { templateRef: templateRef('first') },
      infrastructure: {
        templateRef: { apiVersion: infrastructureVersion, kind: infrastructureKind, name: className },
      },
      variables: Object.entries(variables).map(([name, value]) => ({
        name,
        required: false,
        schema: { openAPIV3Schema: { type: 'string', default: value } },
      })),
      patches: Object.entries(variablePaths).map(([variable, path]) => ({
        name: variable.toLowerCase(),
        definitions: [{ selector, jsonPatches: [{ op: 'add', path, valueFrom: { variable } }] }],
      })),
    },
  });
}

async function createTemplate(client: Client, name: string, one: TemplateResource): Promise<void> {
  await client.create(HostedControlPlaneTemplate, { metadata: { namespace, name }, spec: { template: one } });
}

const templateRef = (name: string) => {
  const { apiVersion, kind } = HostedControlPlaneTemplate;
  return { apiVersion, kind, name };
};

/** Creates another template, and makes it the one of the ClusterClass. Templates are replaced, because Cluster API does not watch them. */
export async function rotateTemplate(client: Client, name: string, one: TemplateResource): Promise<void> {
  await createTemplate(client, name, one);
  await useTemplate(client, name);
}

export async function useTemplate(client: Client, name: string): Promise<void> {
  const body = { spec: { controlPlane: { templateRef: templateRef(name) } } };
  await client.patch(ClusterClass, { namespace, name: className }, { type: 'merge', body });
}

export class ManagedCluster {
  readonly #client: Client;
  readonly #log: () => string;

  constructor(client: Client, log: () => string) {
    this.#client = client;
    this.#log = log;
  }

  /** Resolves when the topology controller has created the infrastructure, which is then provisioned. */
  async create(topology: Omit<Topology, 'classRef'>): Promise<void> {
    const spec = { topology: { classRef: { name: className }, ...topology } };
    await this.#client.create(ClusterV1Beta2, { metadata: { ...key }, spec });
    const { name } = await this.#until('the infrastructure is created', (one) => one.spec?.infrastructureRef);
    await provision(this.#client, { namespace, name });
  }

  /** Changes the topology of the Cluster. */
  async change(topology: Partial<Topology>): Promise<void> {
    await this.#client.patch(ClusterV1Beta2, key, { type: 'merge', body: { spec: { topology } } });
  }

  /** Makes the controllers of the Cluster reconcile it, without a change that matters to them. */
  async touch(number: number): Promise<void> {
    const body = { metadata: { annotations: { touched: String(number) } } };
    await this.#client.patch(ClusterV1Beta2, key, { type: 'merge', body });
  }

  cluster(): Promise<ClusterV1Beta2> {
    return this.#client.get(ClusterV1Beta2, key);
  }

  /** Resolves with the Cluster when the topology controller has written all objects of the current topology. */
  reconciled(): Promise<ClusterV1Beta2> {
    return this.topologyIs('True', () => true);
  }

  /** Resolves with the Cluster when the condition TopologyReconciled of its current spec has the status and a message that `matches`. */
  topologyIs(status: 'True' | 'False', matches: (message: string) => boolean): Promise<ClusterV1Beta2> {
    return this.#until(`TopologyReconciled is ${status}`, (one) => {
      const condition = findCondition(one.status?.conditions, 'TopologyReconciled');
      const isCurrent = condition?.observedGeneration === one.metadata.generation;
      return isCurrent && condition?.status === status && matches(condition.message ?? '') && one;
    });
  }

  async plane(): Promise<HostedControlPlane> {
    const { spec } = await this.cluster();
    return this.#client.get(HostedControlPlane, { namespace, name: spec!.controlPlaneRef!.name });
  }

  /** Resolves with the HostedControlPlane when it is Ready with its current spec, and `holds`. */
  ready(what: string, holds: (object: HostedControlPlane) => boolean): Promise<HostedControlPlane> {
    return until(
      what,
      async () => {
        const object = await this.plane();
        const { conditions, observedGeneration } = object.status ?? {};
        const isReady = findCondition(conditions, 'Ready')?.status === 'True';
        return isReady && observedGeneration === object.metadata.generation && holds(object) && object;
      },
      () => this.#describe(),
    );
  }

  #until<T>(what: string, look: (cluster: ClusterV1Beta2) => T | undefined | false): Promise<T> {
    return until(
      what,
      async () => look(await this.cluster()),
      () => this.#describe(),
    );
  }

  async #describe(): Promise<string> {
    const cluster = await this.cluster();
    const planes = await this.#client.list(HostedControlPlane, { namespace });
    return [JSON.stringify([cluster, planes.items], undefined, 1), this.#log()].join('\n');
  }
}
