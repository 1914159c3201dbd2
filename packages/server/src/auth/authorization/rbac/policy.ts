/**
 * The roles and bindings of a control plane, indexed by subject: finding the permissions of a user reads only the bindings of that user.
 * Watched from the first authorization check on.
 */

import { notFound } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { readClusterRole } from '@hangar/api/rbac';
import type { ClusterRoleView } from '@hangar/api/rbac';
import { lazy } from '@hangar/core';
import type { ControlPlane } from '../../../control-plane.ts';
import { Followed } from '../../../objects/followed.ts';
import { deepFrozen, digestOf, SharedByContent } from '../../../objects/shared-by-content.ts';
import type { User } from '../../user.ts';
import { describeBinding, readBinding, subjectKeys, subjectOf } from './bindings.ts';
import type { Binding, RoleRef } from './bindings.ts';
import { rulesOf } from './rules.ts';
import type { PolicyRule } from './rules.ts';

const group = 'rbac.authorization.k8s.io';
/** The default policy is the same in every control plane. */
const shared = { isShared: true };
const resource = (name: string) => ({ group, version: 'v1', resource: name });

/** The rules that one binding grants a user, or the missing role. */
export type Grant =
  | {
      /** Describes the binding that grants the rules. Called only when the rules allow a request. */ readonly source: () => string;
      readonly rules: readonly PolicyRule[];
    }
  | { readonly missing: RoleRef; readonly rules: readonly [] };

type Rules = readonly PolicyRule[];

/**
 * Shared between control planes: an operator installs the same roles and bindings everywhere, and the parsed form belongs to no control
 * plane.
 */
const clusterRoleOf = sharedReader(readClusterRole, ({ rules }) => rules.length);
const roleRulesOf = sharedReader(rulesOf, ({ length }) => length);
const bindingOf = sharedReader(readBinding, ({ subjects }) => subjects.length);

/** Number of rules or subjects. Larger objects are rarely the same in several control planes, and comparing and freezing them is slow. */
const sharedSizeMax = 1_000;

function sharedReader<T extends object>(
  read: (object: KubeObject) => T,
  sizeOf: (value: T) => number,
): (object: KubeObject) => T {
  const known = new SharedByContent<T>();
  return (object) => {
    const value = read(object);
    if (sizeOf(value) > sharedSizeMax) return value;
    return known.get(digestOf(JSON.stringify(value)), () => deepFrozen(value));
  };
}

export class Policy {
  readonly #clusterRoles: Followed<ClusterRoleView>;
  readonly #roles: Followed<Rules>;
  readonly #clusterBindings: Followed<Binding>;
  readonly #bindings: Followed<Binding>;
  /** Scope → subject → bindings. The scope is a namespace, or empty for the cluster. */
  readonly #byScope = new Map<string, Map<string, Set<Binding>>>();
  readonly #indexed = new Map<string, Binding>();
  #isIndexed = false;
  #generation = 0;
  #isReady = false;
  /** Called also after the first read. */
  onClusterRolesChange: (() => void) | undefined;

  constructor(plane: ControlPlane) {
    const changed = (): void => void this.#generation++;
    const rebound = (): void => {
      this.#isIndexed = false;
      this.#generation++;
    };
    const rolesChanged = (): void => {
      changed();
      this.onClusterRolesChange?.();
    };
    this.#clusterRoles = new Followed(plane, resource('clusterroles'), clusterRoleOf, rolesChanged, shared);
    this.#roles = new Followed(plane, resource('roles'), roleRulesOf, changed, shared);
    this.#clusterBindings = new Followed(plane, resource('clusterrolebindings'), bindingOf, rebound, shared);
    this.#bindings = new Followed(plane, resource('rolebindings'), bindingOf, rebound, shared);
  }

  /** Incremented with every change: caches of decisions depend on it. */
  get generation(): number {
    return this.#generation;
  }

  /** Until then no user has any permissions. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Rejects if the store cannot be read. */
  async ready(): Promise<void> {
    if (this.#isReady) return;
    await Promise.all(this.#followed.map((one) => one.ready()));
    this.#isReady = true;
  }

  /** Waits for all writes acknowledged before the call. */
  async fresh(): Promise<void> {
    await Promise.all(this.#followed.map((one) => one.fresh()));
    this.#isReady = true;
  }

  /** Returns the grants of the user in this scope only, sorted by the name of the binding; an empty scope is the cluster. */
  grants(user: User, scope: string): Grant[] {
    this.#index();
    const found = new Set<Binding>();
    const bySubject = this.#byScope.get(scope);
    if (!bySubject) return [];
    for (const key of subjectKeys(user)) for (const binding of bySubject.get(key) ?? []) found.add(binding);
    return [...found].sort((a, b) => (a.name < b.name ? -1 : 1)).map((binding) => this.#granted(binding, user));
  }

  /** Returns the grants of the cluster, followed by those of the namespace, if given. */
  allGrants(user: User, namespace: string): Grant[] {
    return namespace === '' ? this.grants(user, '') : [...this.grants(user, ''), ...this.grants(user, namespace)];
  }

  /** ClusterRoles by name; empty before the first read. */
  get clusterRoles(): ReadonlyMap<string, ClusterRoleView> {
    return this.#clusterRoles.all ?? new Map();
  }

  /** Returns undefined if the role does not exist. */
  rulesOfRole({ kind, name }: RoleRef, namespace: string): Rules | undefined {
    if (kind === 'ClusterRole') return this.#clusterRoles.all?.get(name)?.rules;
    return kind === 'Role' && namespace !== '' ? this.#roles.all?.get(`${namespace}/${name}`) : undefined;
  }

  close(): void {
    for (const one of this.#followed) one.close();
  }

  get #followed(): readonly Followed<unknown>[] {
    return [this.#clusterRoles, this.#roles, this.#clusterBindings, this.#bindings];
  }

  #granted(binding: Binding, user: User): Grant {
    const { roleRef, namespace } = binding;
    const rules = this.rulesOfRole(roleRef, namespace);
    if (!rules) return { missing: roleRef, rules: [] };
    const source = lazy(() => describeBinding(binding, subjectOf(binding, user)!));
    return { source, rules };
  }

  /** Updates only changed bindings: a cluster may have many thousands. */
  #index(): void {
    if (this.#isIndexed) return;
    const now = new Map<string, Binding>();
    for (const [key, binding] of this.#clusterBindings.all ?? []) now.set(key, binding);
    for (const [key, binding] of this.#bindings.all ?? []) now.set(key, binding);
    for (const [key, binding] of this.#indexed) {
      if (now.get(key) !== binding) {
        this.#remove(binding);
        this.#indexed.delete(key);
      }
    }
    for (const [key, binding] of now) {
      if (this.#indexed.get(key) === binding) continue;
      this.#add(binding);
      this.#indexed.set(key, binding);
    }
    this.#isIndexed = true;
  }

  #add(binding: Binding): void {
    let bySubject = this.#byScope.get(binding.namespace);
    if (!bySubject) this.#byScope.set(binding.namespace, (bySubject = new Map()));
    for (const subject of binding.subjectKeys) {
      const known = bySubject.get(subject);
      if (known) known.add(binding);
      else bySubject.set(subject, new Set([binding]));
    }
  }

  #remove(binding: Binding): void {
    const bySubject = this.#byScope.get(binding.namespace);
    for (const subject of binding.subjectKeys) {
      const known = bySubject?.get(subject);
      known?.delete(binding);
      if (known?.size === 0) bySubject!.delete(subject);
    }
    if (bySubject?.size === 0) this.#byScope.delete(binding.namespace);
  }
}

/** Lists the missing roles, each once. */
export function problemsText(
  grants: readonly Grant[],
  resourceOf = (kind: string): string => kind.toLowerCase(),
): string {
  const problems = new Set<string>();
  for (const grant of grants) {
    if (!('missing' in grant)) continue;
    const { kind, name } = grant.missing;
    problems.add(notFound({ group, resource: resourceOf(kind) }, name).message);
  }
  const [first = ''] = problems;
  return problems.size > 1 ? `[${[...problems].join(', ')}]` : first;
}
