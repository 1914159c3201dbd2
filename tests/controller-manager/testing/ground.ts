/** One `hangar up` with an audit log, and control planes that are registered for services. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@hangar/client';
import { Namespace, Secret } from '@hangar/client/kinds/core-v1';
import {
  ControlPlaneEndpoint,
  ControlPlaneRegistration,
  controllersAnnotation,
  Tenant,
} from '@hangar/controlplane-operator';
import type { ControlPlaneRegistrationSpec, SecretReference } from '@hangar/controlplane-operator';
import { findCondition } from '@hangar/runtime';
import { controllerManagerLost } from '@hangar/runtime/clusters';
import { Up } from '../../controlplanes/testing/up.ts';
import { AuditLog } from './audit.ts';
import { identityAt } from './identity.ts';
import type { Identity } from './identity.ts';
import { untilAll } from './work.ts';

export type Service = 'controllers' | 'scheduler';
const conditionOf = { controllers: 'ControllersReady', scheduler: 'SchedulerReady' } as const;

/** Namespace of the test's own Secrets. */
export const namespace = 'fleet';

interface IssuedKubeconfig {
  readonly status: { readonly kubeconfig: string };
}

export class Ground implements AsyncDisposable {
  readonly folder: string;
  readonly up: Up;
  readonly audit: AuditLog;

  private constructor(folder: string, up: Up, audit: AuditLog) {
    this.folder = folder;
    this.up = up;
    this.audit = audit;
  }

  static async start(): Promise<Ground> {
    const folder = await mkdtemp(join(tmpdir(), 'hangar-fleet-'));
    try {
      const audit = await AuditLog.prepare(folder);
      const up = await Up.start({ flags: ['--store=memory', ...audit.flags] });
      const ground = new Ground(folder, up, audit);
      await ground.client.create(Namespace, { metadata: { name: namespace } });
      return ground;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Of the administrator. */
  get client(): Client {
    return this.up.client;
  }

  identity(user: string): Promise<Identity> {
    return identityAt(this.up, user, this.folder);
  }

  /** Creates a kubeconfig for a user of a control plane: a new one each time. */
  async newKubeconfig(controlPlane: string, user: string): Promise<string> {
    const path = `/apis/tenancy.hangar.dev/v1alpha1/tenants/${controlPlane}/kubeconfig`;
    const answer = (await this.up.raw.create(path, { spec: { user, groups: ['system:masters'] } })) as IssuedKubeconfig;
    return answer.status.kubeconfig;
  }

  /** Creates or updates a Secret of the test. */
  async keep(name: string, kubeconfig: string): Promise<SecretReference> {
    const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
    const metadata = { namespace, name };
    await this.client.apply(Secret, { metadata, data }, { fieldManager: 'test', force: true });
    return metadata;
  }

  async endpoint(name: string, endpoint: string): Promise<void> {
    await this.client.create(ControlPlaneEndpoint, { metadata: { name }, spec: { endpoint } });
  }

  /** Registers with the name of the control plane. Resolves when it is ready, with the Secret of its kubeconfig. */
  async register(
    name: string,
    services: readonly Service[] = ['controllers'],
    more: Partial<ControlPlaneRegistrationSpec> = {},
  ): Promise<SecretReference> {
    const spec = { controlPlaneRef: { name }, services: [...services], ...more };
    await this.client.create(ControlPlaneRegistration, { metadata: { name }, spec });
    const [registration] = await this.#until(name, 'is resolved', (one) => one?.status?.ready === true);
    return registration!.status!.resolvedKubeconfigSecretRef!;
  }

  async unregister(name: string): Promise<void> {
    await this.client.delete(ControlPlaneRegistration, { name });
  }

  /** Resolves when its condition is true. */
  async served(name: string, service: Service = 'controllers'): Promise<void> {
    const type = conditionOf[service];
    await this.#until(name, `has ${type}`, (one) => findCondition(one?.status?.conditions, type)?.status === 'True');
  }

  /** Resolves when its condition has expired. */
  async lost(name: string, service: Service = 'controllers'): Promise<void> {
    const type = conditionOf[service];
    await this.#until(name, `has lost ${type}`, (one) => {
      const { status, reason } = findCondition(one?.status?.conditions, type) ?? {};
      return status === 'Unknown' && reason === controllerManagerLost;
    });
  }

  /** Resolves when the platform has handed the control plane over to a controller manager. */
  async isHandedOver(name: string): Promise<void> {
    await untilAll(this.client, Tenant, {
      what: `the tenant ${name} is left to a controller manager`,
      fieldSelector: `metadata.name=${name}`,
      isSo: ([one]) => one?.metadata.annotations?.[controllersAnnotation] === 'External',
    });
  }

  /** Resolves when the platform runs the controllers of the control plane itself. */
  async isThePlatforms(name: string): Promise<void> {
    await untilAll(this.client, Tenant, {
      what: `the tenant ${name} is nobody else's`,
      fieldSelector: `metadata.name=${name}`,
      isSo: ([one]) => one?.metadata.annotations?.[controllersAnnotation] === undefined,
    });
  }

  #until(name: string, what: string, isSo: (one: ControlPlaneRegistration | undefined) => boolean) {
    return untilAll(this.client, ControlPlaneRegistration, {
      what: `the registration ${name} ${what}`,
      fieldSelector: `metadata.name=${name}`,
      isSo: ([one]) => isSo(one),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.up[Symbol.asyncDispose]();
    } finally {
      await rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }
}
