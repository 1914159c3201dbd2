/**
 * The policies in force: those that exist and are bound. Policies and bindings are watched from the first write on; the result is cached
 * until one of them changes.
 */

import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import { Followed } from '../../objects/followed.ts';
import { MatchCriteria } from './match-criteria.ts';
import type { BindingSpec, PolicySpec } from './spec.ts';

/** A parsed policy. Its expressions are compiled when a request first needs them. */
export class Policy<Compiled> {
  readonly name: string;
  readonly spec: PolicySpec;
  readonly criteria: MatchCriteria;
  /** True: errors deny the request. */
  readonly isStrict: boolean;
  readonly #compile: (spec: PolicySpec) => Compiled;
  #compiled: Compiled | undefined;

  constructor(object: KubeObject, compile: (spec: PolicySpec) => Compiled) {
    this.name = object.metadata.name!;
    this.spec = (object['spec'] ?? {}) as PolicySpec;
    this.criteria = new MatchCriteria(this.spec.matchConstraints ?? {});
    this.isStrict = this.spec.failurePolicy !== 'Ignore';
    this.#compile = compile;
  }

  get compiled(): Compiled {
    return (this.#compiled ??= this.#compile(this.spec));
  }
}

export class Binding {
  readonly name: string;
  readonly spec: BindingSpec;
  /** Undefined: everything that the policy matches. */
  readonly criteria: MatchCriteria | undefined;

  constructor(object: KubeObject) {
    this.name = object.metadata.name!;
    this.spec = (object['spec'] ?? {}) as BindingSpec;
    this.criteria = this.spec.matchResources && new MatchCriteria(this.spec.matchResources);
  }
}

export interface BoundPolicy<Compiled> {
  readonly policy: Policy<Compiled>;
  readonly bindings: readonly Binding[];
}

export interface SourceOptions<Compiled> {
  /** Plural resource names. */
  readonly policies: string;
  readonly bindings: string;
  readonly compile: (spec: PolicySpec) => Compiled;
}

const group = 'admissionregistration.k8s.io';

export class PolicySource<Compiled> {
  readonly #policies: Followed<Policy<Compiled>>;
  readonly #bindings: Followed<Binding>;
  #bound: readonly BoundPolicy<Compiled>[] | undefined;

  constructor(plane: ControlPlane, options: SourceOptions<Compiled>) {
    const changed = (): void => void (this.#bound = undefined);
    const follow = <T>(resource: string, make: (object: KubeObject) => T): Followed<T> =>
      new Followed(plane, { group, version: 'v1', resource }, make, changed);
    this.#policies = follow(options.policies, (object) => new Policy(object, options.compile));
    this.#bindings = follow(options.bindings, (object) => new Binding(object));
  }

  /** Policies sorted by name; undefined before the first read. */
  get current(): readonly BoundPolicy<Compiled>[] | undefined {
    if (this.#bound) return this.#bound;
    const [policies, bindings] = [this.#policies.all, this.#bindings.all];
    return policies && bindings && (this.#bound = joined(policies, bindings));
  }

  async ready(): Promise<readonly BoundPolicy<Compiled>[]> {
    await Promise.all([this.#policies.ready(), this.#bindings.ready()]);
    return this.current!;
  }

  close(): void {
    this.#policies.close();
    this.#bindings.close();
  }
}

function joined<Compiled>(
  policies: ReadonlyMap<string, Policy<Compiled>>,
  bindings: ReadonlyMap<string, Binding>,
): BoundPolicy<Compiled>[] {
  const byPolicy = Map.groupBy(sorted(bindings), ({ spec }) => spec.policyName ?? '');
  return sorted(policies).flatMap((policy) => {
    const own = byPolicy.get(policy.name);
    return own ? [{ policy, bindings: own }] : [];
  });
}

const sorted = <T extends { readonly name: string }>(all: ReadonlyMap<string, T>): T[] =>
  [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
