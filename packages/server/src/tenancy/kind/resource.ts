/** `Tenant` as a resource of the management plane: a custom resource whose writes create, change and destroy control planes. */

import { invalid, invalidObject } from '@hangar/api';
import type { KubeObject, Subresource } from '@hangar/api';
import type { Revision } from '@hangar/store';
import type { Allocation } from '../../allocation/allocation.ts';
import type { ControlPlane } from '../../control-plane.ts';
import { servedDefinition } from '../../definitions/served.ts';
import type { ServedDefinition } from '../../resources/catalogue.ts';
import { CustomServedResource } from '../../resources/custom.ts';
import { refusedKind } from '../../resources/resource.ts';
import type { Resource } from '../../resources/resource.ts';
import { authenticationProblem } from '../external-users/configuration.ts';
import type { TenantSpec } from '../tenant.ts';
import { tenantKind } from './definition.ts';

export interface TenantKindOptions {
  readonly birth: Allocation;
  /** Returns why this tenant cannot have this host name, or undefined if it can. */
  readonly hostProblem: (path: string, host: string) => string | undefined;
  /** Returns the URL of the control plane with this path. */
  readonly url: (path: string) => string;
  /** Resolves when this server has observed the revision. */
  readonly reached: (revision: Revision) => Promise<void>;
  /** Handlers of the subresources, by name. */
  readonly operations: NonNullable<Resource['operations']>;
}

class TenantResource extends CustomServedResource {
  readonly #options: TenantKindOptions;
  readonly allocation: Allocation;
  readonly operations: TenantKindOptions['operations'];
  override readonly subresources: readonly Subresource[];

  constructor(options: TenantKindOptions, ...all: ConstructorParameters<typeof CustomServedResource>) {
    super(...all);
    this.#options = options;
    this.allocation = options.birth;
    this.operations = options.operations;
    const { group, version, kind } = this;
    const operations = Object.entries(options.operations).map(([name, handlers]) => ({
      name,
      group,
      version,
      kind,
      verbs: Object.keys(handlers),
    }));
    this.subresources = [{ name: 'status', group, version, kind, verbs: ['get', 'patch', 'update'] }, ...operations];
  }

  complete(_plane: ControlPlane, object: KubeObject): void {
    const { name = '' } = object.metadata;
    const { hosts = [], authentication } = object['spec'] as TenantSpec;
    const errors = hosts.flatMap((host, at) => {
      const problem = this.#options.hostProblem(name, host);
      return problem === undefined ? [] : [invalid(`spec.hosts[${at}]`, host, problem)];
    });
    const problem = authentication && authenticationProblem(name, authentication);
    if (problem) errors.push(problem);
    if (errors.length > 0) throw invalidObject(refusedKind(this), name, errors);
    object['status'] = { ...(object['status'] as object), url: this.#options.url(name) };
  }

  /** After an acknowledged creation the tenant answers requests; after an acknowledged deletion it does not. */
  settled(_plane: ControlPlane, revision: Revision): Promise<void> {
    return this.#options.reached(revision);
  }
}

export const servedTenants = (options: TenantKindOptions): ServedDefinition =>
  servedDefinition(tenantKind().definition, (...all) => new TenantResource(options, ...all));
