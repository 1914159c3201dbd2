/**
 * Roles that collect others: whoever labels a ClusterRole `…/aggregate-to-view` adds to `view`. In Kubernetes it is the work
 * of kube-controller-manager; a control plane without one has it done here, with the same result under the same name, so
 * that the two find nothing to do for each other. What the other has done by half is nothing to be taken back: what a role
 * should have follows from the roles that collect nothing, and from nothing that was written.
 */

import { applyObject, labelSelectorOf } from '@hangar/api';
import type { KubeObject, LabelSelectorObject } from '@hangar/api';
import { objectKey } from '../../../control-plane.ts';
import type { ControlPlane } from '../../../control-plane.ts';
import { timestamp } from '../../../verbs/metadata.ts';
import { rulesOf } from './rules.ts';
import type { PolicyRule } from './rules.ts';

export interface ClusterRole {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly rules: readonly PolicyRule[];
  /** Empty: it collects nothing. */
  readonly selectors: readonly LabelSelectorObject[];
  readonly isAggregated: boolean;
}

export function readClusterRole(object: KubeObject): ClusterRole {
  const rule = object['aggregationRule'] as { clusterRoleSelectors?: readonly LabelSelectorObject[] } | undefined;
  return {
    name: object.metadata.name ?? '',
    labels: object.metadata.labels ?? {},
    rules: rulesOf(object),
    selectors: rule?.clusterRoleSelectors ?? [],
    isAggregated: rule !== undefined,
  };
}

/** The rules of all roles that it selects, by name, each rule once; as they are. */
export const aggregatedRules = (role: ClusterRole, all: Iterable<ClusterRole>): PolicyRule[] =>
  together(sourcesOf(role, sorted(all)), ({ rules }) => rules);

/** What all roles that collect should have, when those that they collect have it, too. */
export function allAggregatedRules(all: Iterable<ClusterRole>): Map<ClusterRole, readonly PolicyRule[]> {
  const byName = sorted(all);
  const collecting = byName.filter(({ isAggregated }) => isAggregated);
  const sources = new Map(collecting.map((role) => [role, sourcesOf(role, byName)]));
  const collected = new Map<ClusterRole, readonly PolicyRule[]>(collecting.map((role) => [role, []]));
  // They only become more: it ends, also of those that collect each other.
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (const [role, before] of collected) {
      const rules = together(sources.get(role)!, (one) => collected.get(one) ?? one.rules);
      if (rules.length === before.length) continue;
      collected.set(role, rules);
      isChanged = true;
    }
  }
  return collected;
}

const sorted = (roles: Iterable<ClusterRole>): ClusterRole[] => [...roles].sort((a, b) => (a.name < b.name ? -1 : 1));

const sourcesOf = (role: ClusterRole, byName: readonly ClusterRole[]): ClusterRole[] =>
  role.selectors
    .map((one) => labelSelectorOf(one))
    .flatMap((selector) => byName.filter(({ name, labels }) => name !== role.name && selector.matches(labels)));

function together(
  sources: readonly ClusterRole[],
  rulesOfOne: (role: ClusterRole) => readonly PolicyRule[],
): PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  for (const rule of sources.flatMap(rulesOfOne)) {
    const text = ruleText(rule);
    if (!rules.has(text)) rules.set(text, rule);
  }
  return [...rules.values()];
}

/** Absent and empty lists are the same. */
const ruleText = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string =>
  JSON.stringify([verbs, apiGroups ?? [], resources ?? [], resourceNames ?? [], nonResourceURLs ?? []]);

/** In whatever order: it has no meaning, and could go round in circles. */
const isSame = (some: readonly PolicyRule[], others: readonly PolicyRule[]): boolean =>
  new Set(some.map(ruleText)).symmetricDifference(new Set(others.map(ruleText))).size === 0;

const manager = 'clusterrole-aggregation-controller';
/** Between two rounds: roles that collect each other could go on for ever. */
const pauseMs = 50;

export class RoleAggregator {
  readonly #plane: ControlPlane;
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

  async #round(): Promise<void> {
    for (const [role, rules] of allAggregatedRules(this.#plane.policy.clusterRoles.values())) {
      if (this.#isClosed) return;
      if (!isSame(rules, role.rules)) await this.#write(role, rules);
    }
  }

  async #write(role: ClusterRole, rules: readonly PolicyRule[]): Promise<void> {
    const { name } = role;
    const { catalogue, store, clock } = this.#plane;
    const resource = catalogue.find({ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' })!;
    const key = objectKey(this.#plane, resource, '', name);
    const { entry } = await store.get(key);
    if (!entry) return;
    const live = resource.stored.object(entry);
    // Somebody was faster: that is told, and looked at then.
    if (!isSame(rulesOf(live), role.rules)) return;
    const { kind, apiVersion } = resource;
    const { object } = applyObject({
      type: resource.mergeType,
      live,
      patch: { kind, apiVersion, metadata: { name }, ...(rules.length === 0 ? {} : { rules }) },
      manager,
      force: true,
      apiVersion,
      kind,
      subresource: '',
      now: timestamp(clock),
      resetFields: resource.strategy.resetFields(''),
    });
    object['rules'] ??= null;
    // A conflict is a change that will be told.
    await store.commit([{ type: 'put', key, value: resource.stored.encode(object), expected: entry.modRevision }]);
  }
}
