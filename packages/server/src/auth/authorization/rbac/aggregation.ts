/**
 * Writes the rules of aggregated ClusterRoles: a role that is labelled `…/aggregate-to-view` adds to `view`. In Kubernetes
 * kube-controller-manager does this; a control plane without one has it done here, with the same result under the same name, so that
 * neither finds anything to change after the other.
 */

import { applyObject } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { RoleAggregation } from '@hangar/api/rbac';
import type { OutdatedRole, PolicyRule } from '@hangar/api/rbac';
import { inSlices, Slicer } from '@hangar/core';
import { objectKey } from '../../../control-plane.ts';
import type { ControlPlane } from '../../../control-plane.ts';
import type { Resource } from '../../../resources/resource.ts';
import { timestamp } from '../../../verbs/metadata.ts';
import { rulesOf } from './rules.ts';

const manager = 'clusterrole-aggregation-controller';
/** Between two rounds: roles that collect each other could go on for ever. */
const pauseMs = 50;

export class RoleAggregator {
  readonly #plane: ControlPlane;
  readonly #aggregation = new RoleAggregation();
  #isDue = false;
  #isRunning = false;
  #isClosed = false;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
    plane.policy.onClusterRolesChange = () => this.#wake();
  }

  close(): void {
    this.#isClosed = true;
  }

  #wake(): void {
    this.#isDue = true;
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    // Not within the change: more of it may be on the way.
    await Promise.resolve();
    this.#isDue = false;
    // What fails is tried again with the next change.
    await this.#round().catch(() => undefined);
    this.#isRunning = false;
    if (this.#isDue && !this.#isClosed) this.#plane.clock.after(pauseMs, () => this.#wake());
  }

  /** A role that is refused (see `aggregationLimits`) keeps its rules; the controller reports it. */
  async #round(): Promise<void> {
    const { clock, policy } = this.#plane;
    const slicer = new Slicer(clock);
    const { outdated } = await inSlices(slicer, this.#aggregation.update(policy.clusterRoles));
    for (const one of outdated) {
      if (this.#isClosed) return;
      // Every change of a role is seen before the next one is written: an update that came meanwhile may make it unnecessary.
      if (policy.clusterRoles.get(one.role.name) === one.role) await this.#write(one);
      await slicer.pause();
    }
  }

  async #write({ role, rules }: OutdatedRole): Promise<void> {
    const { catalogue, store } = this.#plane;
    const resource = catalogue.find({ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' })!;
    const key = objectKey(this.#plane, resource, '', role.name);
    const { entry } = await store.get(key);
    if (!entry) return;
    const live = resource.stored.object(entry);
    // The role changed since: the follower reports it, and the next round looks at it.
    if (JSON.stringify(rulesOf(live)) !== JSON.stringify(role.rules)) return;
    const value = resource.stored.encode(this.#applied(resource, live, rules));
    // After a conflict, the follower reports the other change.
    await store.commit([{ type: 'put', key, value, expected: entry.modRevision }]);
  }

  /**
   * Applies the rules as a client would. `rules` is one atomic field: placeholders stand for it, so that an apply of thousands of
   * rules costs no more than one of few.
   */
  #applied(resource: Resource, live: KubeObject, rules: readonly PolicyRule[]): KubeObject {
    const { kind, apiVersion } = resource;
    const { name = '' } = live.metadata;
    const { object } = applyObject({
      type: resource.mergeType,
      live: { ...live, rules: [placeholder('live')] },
      patch: {
        kind,
        apiVersion,
        metadata: { name },
        ...(rules.length === 0 ? {} : { rules: [placeholder('applied')] }),
      },
      manager,
      force: true,
      apiVersion,
      kind,
      subresource: '',
      now: timestamp(this.#plane.clock),
      resetFields: resource.strategy.resetFields(''),
    });
    // Another manager may own the rules of a role that has nothing to collect.
    if (object['rules'] !== undefined) object['rules'] = rules.length === 0 ? live['rules'] : rules;
    object['rules'] ??= null;
    return object;
  }
}

const placeholder = (verb: string): PolicyRule => ({ verbs: [verb] });
