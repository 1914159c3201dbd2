/**
 * Writes the rules of aggregated ClusterRoles: a role labelled `…/aggregate-to-view` adds its rules to `view`. In Kubernetes
 * kube-controller-manager does this. For a control plane without one it is done here, with the same result and field manager, so that
 * neither changes the result of the other.
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
/** Delay between two rounds: roles that aggregate each other could otherwise loop without pause. */
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
    // Deferred: more changes may follow.
    await Promise.resolve();
    this.#isDue = false;
    // Failures are retried with the next change.
    await this.#round().catch(() => undefined);
    this.#isRunning = false;
    if (this.#isDue && !this.#isClosed) this.#plane.clock.after(pauseMs, () => this.#wake());
  }

  /** A role that is rejected (see `aggregationLimits`) keeps its rules; the controller reports it. */
  async #round(): Promise<void> {
    const { clock, policy } = this.#plane;
    const slicer = new Slicer(clock);
    const { outdated } = await inSlices(slicer, this.#aggregation.update(policy.clusterRoles));
    for (const one of outdated) {
      if (this.#isClosed) return;
      // Changes of roles are observed before the next role is written: an update in between may make the write unnecessary.
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
    // The role has changed: the watch reports it, and the next round handles it.
    if (JSON.stringify(rulesOf(live)) !== JSON.stringify(role.rules)) return;
    const value = resource.stored.encode(this.#applied(resource, live, rules));
    // After a conflict, the watch reports the other change.
    await store.commit([{ type: 'put', key, value, expected: entry.modRevision }]);
  }

  /**
   * Applies the rules like a client. `rules` is one atomic field: a placeholder stands for it, so that applying thousands of rules costs no
   * more than applying a few.
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
    // Another manager may own the rules of a role that aggregates nothing.
    if (object['rules'] !== undefined) object['rules'] = rules.length === 0 ? live['rules'] : rules;
    object['rules'] ??= null;
    return object;
  }
}

const placeholder = (verb: string): PolicyRule => ({ verbs: [verb] });
