/**
 * ClusterRoles that collect the rules of others by their labels. An aggregated role has the rules of all roles that its selectors match, in
 * the order of selectors, then of names, each rule once. The result is derived from the roles that are not aggregated, never from the rules
 * that were written last: so roles that select each other agree, and a rule disappears from all of them when its source role is deleted.
 *
 *     leaf-a {to: view}          view  collects {to: view}, is {to: edit}      edit  collects {to: edit}
 *
 *     leaf-a changes  ─►  its dependents: view  ─►  view's: edit          each is collected once, view first
 *     leaf-b changes  ─►  no selector matches its labels: nothing is collected
 *
 * `update` takes all roles as they are now, finds those that are not the same object as before, and follows dependencies from there. Its
 * work is bounded: see `aggregationLimits`.
 */

import type { Steps } from '@hangar/core';
import type { ClusterRoleView } from './cluster-role.ts';
import { inDependencyOrder } from './dependency-order.ts';
import { RoleSelectors } from './role-selectors.ts';
import { ruleText, sameRules } from './rules.ts';
import type { PolicyRule } from './rules.ts';

type Rules = readonly PolicyRule[];

export interface AggregationLimits {
  /** Limit of roles that one aggregated role selects. */
  readonly sourcesMax: number;
  /** Limit of rules of one aggregated role. */
  readonly rulesMax: number;
  /** Limit of characters of the rules of one aggregated role. */
  readonly lengthMax: number;
  /** Limit of characters of the rules of all aggregated roles together: every change may have to write all of them. */
  readonly totalLengthMax: number;
  /** Limit of comparisons of one update: selectors with labels, rules with each other. */
  readonly stepsMax: number;
}

export const aggregationLimits: AggregationLimits = {
  sourcesMax: 10_000,
  rulesMax: 5_000,
  lengthMax: 512 * 1024,
  totalLengthMax: 4 * 1024 * 1024,
  stepsMax: 2_000_000,
};

/** An aggregated role whose stored rules differ from the collected ones. */
export interface OutdatedRole {
  readonly role: ClusterRoleView;
  readonly rules: Rules;
}

/** An aggregated role that keeps its stored rules. */
export interface RefusedRole {
  readonly role: ClusterRoleView;
  readonly reason: string;
}

export interface AggregationResult {
  /** By name. Includes those of earlier updates, until an update sees that they were written. */
  readonly outdated: readonly OutdatedRole[];
  readonly refused: readonly RefusedRole[];
}

/** A role of the graph. */
class Node {
  role: ClusterRoleView;
  /** Roles that this one selects, each with the index of the first selector that matches. */
  readonly sources = new Map<Node, number>();
  /** Roles that select this one. */
  readonly dependents = new Set<Node>();
  /** Undefined: not collected, or refused. Then the role's own rules count. */
  collected: Rules | undefined;
  length = 0;
  refusal: string | undefined;

  constructor(role: ClusterRoleView) {
    this.role = role;
  }

  get rules(): Rules {
    return this.collected ?? this.role.rules;
  }
}

/** The update exceeds the limit of comparisons. */
class Exhausted extends Error {}

export class RoleAggregation {
  readonly #limits: AggregationLimits;
  readonly #nodes = new Map<string, Node>();
  #selectors = new RoleSelectors<Node>();
  readonly #outdated = new Set<Node>();
  #totalLength = 0;
  #steps = 0;

  constructor(limits: Partial<AggregationLimits> = {}) {
    this.#limits = { ...aggregationLimits, ...limits };
  }

  /** Returns the rules that an aggregated role collects; undefined if it is not aggregated, unknown or refused. */
  collected(name: string): Rules | undefined {
    return this.#nodes.get(name)?.collected;
  }

  /**
   * Takes the roles as they are now, by name: a role that is the same object as in the last update did not change. One update at a time. If
   * it exceeds `stepsMax`, the state is cleared, no role is outdated, and the aggregated ones are refused.
   */
  *update(roles: ReadonlyMap<string, ClusterRoleView>): Steps<AggregationResult> {
    const now = new Map(roles);
    this.#steps = 0;
    try {
      const { dirty, changed } = yield* this.#linked(now);
      const collected = yield* this.#collectAll(dirty);
      yield* this.#compare(new Set([...changed, ...collected]));
      return this.#result();
    } catch (error) {
      if (!(error instanceof Exhausted)) throw error;
      this.#forget();
      const reason = `the aggregation of the ClusterRoles takes more than ${this.#limits.stepsMax} comparisons`;
      const aggregated = [...now.values()].filter(({ isAggregated }) => isAggregated);
      return { outdated: [], refused: aggregated.map((role) => ({ role, reason })) };
    }
  }

  #forget(): void {
    this.#nodes.clear();
    this.#selectors = new RoleSelectors();
    this.#outdated.clear();
    this.#totalLength = 0;
  }

  /** Counts a comparison; returns whether the work should pause. Throws Exhausted. */
  #step(cost = 1): boolean {
    const before = this.#steps;
    this.#steps += cost;
    if (this.#steps > this.#limits.stepsMax) throw new Exhausted();
    return this.#steps >>> 7 !== before >>> 7;
  }

  /** Updates the graph. Returns the changed aggregated roles, and all that must be collected again. */
  *#linked(roles: ReadonlyMap<string, ClusterRoleView>): Steps<{ dirty: Set<Node>; changed: Set<Node> }> {
    const dirty = new Set<Node>();
    const changed = new Set<Node>();
    const selecting: Node[] = [];
    const relabelled: Node[] = [];
    for (const [name, node] of this.#nodes) {
      if (roles.has(name)) continue;
      for (const dependent of node.dependents) dirty.add(dependent);
      this.#remove(node);
      dirty.delete(node);
      if (this.#step()) yield;
    }
    for (const [name, role] of roles) {
      let node = this.#nodes.get(name);
      const before = node?.role;
      if (before === role) continue;
      if (!node) this.#nodes.set(name, (node = new Node(role)));
      node.role = role;
      if (role.isAggregated) changed.add(node);
      else this.#setCollected(node, undefined, 0);
      // While a role has collected rules, its stored rules do not count.
      if (node.collected === undefined && (before?.rules !== role.rules || before.isAggregated !== role.isAggregated)) {
        for (const dependent of node.dependents) dirty.add(dependent);
      }
      if (!before || !isSameList(before.selectors, role.selectors) || before.isAggregated !== role.isAggregated) {
        selecting.push(node);
        if (role.isAggregated) dirty.add(node);
      }
      if (!before || !isSameLabels(before.labels, role.labels)) {
        this.#selectors.label(node, role.labels, before?.labels);
        relabelled.push(node);
      }
      if (this.#step(1 + Object.keys(role.labels).length)) yield;
    }
    for (const node of selecting) yield* this.#select(node);
    for (const node of relabelled) yield* this.#offer(node, dirty);
    return { dirty, changed };
  }

  #remove(node: Node): void {
    for (const dependent of node.dependents) dependent.sources.delete(node);
    for (const source of node.sources.keys()) source.dependents.delete(node);
    this.#selectors.remove(node, node.role.labels);
    this.#setCollected(node, undefined, 0);
    this.#outdated.delete(node);
    this.#nodes.delete(node.role.name);
  }

  /** Finds the sources of a role whose selectors are new. */
  *#select(node: Node): Steps<void> {
    for (const source of node.sources.keys()) source.dependents.delete(node);
    node.sources.clear();
    yield* this.#selectors.select(node, node.role.isAggregated ? node.role.selectors : [], (cost) => this.#step(cost));
    for (const { at, selector, cost, candidates } of this.#selectors.of(node)) {
      for (const source of candidates ?? this.#nodes.values()) {
        if (this.#step(cost)) yield;
        if (source === node || node.sources.has(source) || !selector.matches(source.role.labels)) continue;
        node.sources.set(source, at);
        source.dependents.add(node);
      }
    }
  }

  /** Finds the roles that select a role whose labels are new. */
  *#offer(source: Node, dirty: Set<Node>): Steps<void> {
    const { labels } = source.role;
    const first = new Map<Node, number>();
    for (const { owner, at, selector, cost } of this.#selectors.candidatesFor(labels)) {
      if (this.#step(cost)) yield;
      if (owner === source || (first.get(owner) ?? Infinity) <= at || !selector.matches(labels)) continue;
      first.set(owner, at);
    }
    for (const dependent of source.dependents) {
      if (first.has(dependent)) continue;
      dependent.sources.delete(source);
      source.dependents.delete(dependent);
      dirty.add(dependent);
    }
    for (const [dependent, at] of first) {
      if (dependent.sources.get(source) === at) continue;
      dependent.sources.set(source, at);
      source.dependents.add(dependent);
      dirty.add(dependent);
    }
  }

  /** Collects the dirty roles, and those that depend on a changed result. Returns all collected roles. */
  *#collectAll(dirty: Set<Node>): Steps<Set<Node>> {
    const collected = new Set<Node>();
    if (dirty.size === 0) return collected;
    const affected = new Set(dirty);
    for (const node of affected) {
      for (const dependent of node.dependents) affected.add(dependent);
      if (this.#step(1 + node.dependents.size)) yield;
    }
    for (const group of yield* inDependencyOrder(
      affected,
      (node) => node.sources.keys(),
      () => this.#step(),
    )) {
      if (!group.some((node) => dirty.has(node))) continue;
      const isOther = yield* this.#collect(group);
      for (const node of group) {
        collected.add(node);
        if (isOther) for (const dependent of node.dependents) dirty.add(dependent);
      }
    }
    return collected;
  }

  /** Roles that select each other have the same rules: those of all other roles that any of them selects. */
  *#collect(group: readonly Node[]): Steps<boolean> {
    const members = new Set(group);
    const rules = new Map<string, PolicyRule>();
    const { sourcesMax, rulesMax, lengthMax, totalLengthMax } = this.#limits;
    let length = 0;
    for (const member of group.toSorted(byName)) {
      if (member.sources.size > sourcesMax)
        return this.#refuse(group, `it selects more than ${sourcesMax} ClusterRoles`);
      const sources = [...member.sources].sort(([a, atA], [b, atB]) => atA - atB || byName(a, b));
      for (const [source] of sources) {
        if (members.has(source)) continue;
        for (const rule of source.rules) {
          const text = ruleText(rule);
          if (this.#step(1 + (text.length >>> 10))) yield;
          if (rules.has(text)) continue;
          rules.set(text, rule);
          length += text.length;
          if (rules.size > rulesMax) return this.#refuse(group, `it would have more than ${rulesMax} rules`);
          if (length > lengthMax) return this.#refuse(group, `its rules would have more than ${lengthMax} characters`);
        }
      }
    }
    const before = group.reduce((sum, node) => sum + node.length, 0);
    if (this.#totalLength - before + length * group.length > totalLengthMax) {
      const reason = `the rules of all aggregated ClusterRoles together would have more than ${totalLengthMax} characters`;
      return this.#refuse(group, reason);
    }
    const list = [...rules.values()];
    let isOther = false;
    for (const node of group) {
      node.refusal = undefined;
      isOther ||= node.collected === undefined || !(yield* sameRules(node.collected, list));
      this.#setCollected(node, list, length);
    }
    return isOther;
  }

  /** The roles keep their stored rules. */
  #refuse(group: readonly Node[], reason: string): boolean {
    let isOther = false;
    for (const node of group) {
      node.refusal = reason;
      isOther ||= node.collected !== undefined;
      this.#setCollected(node, undefined, 0);
    }
    return isOther;
  }

  #setCollected(node: Node, rules: Rules | undefined, length: number): void {
    this.#totalLength += length - node.length;
    node.length = length;
    node.collected = rules;
  }

  *#compare(nodes: ReadonlySet<Node>): Steps<void> {
    for (const node of nodes) {
      const { collected, role } = node;
      const isSame = collected === undefined || (yield* sameRules(collected, role.rules));
      if (isSame) this.#outdated.delete(node);
      else this.#outdated.add(node);
      if (this.#step(1 + (collected?.length ?? 0))) yield;
    }
  }

  #result(): AggregationResult {
    const outdated = [...this.#outdated].sort(byName).map(({ role, rules }) => ({ role, rules }));
    const refused = [...this.#nodes.values()].flatMap(({ role, refusal: reason }) =>
      reason !== undefined && role.isAggregated ? [{ role, reason }] : [],
    );
    return { outdated, refused };
  }
}

const byName = (a: Node, b: Node): number => (a.role.name < b.role.name ? -1 : a.role.name > b.role.name ? 1 : 0);

/** Lists of selectors are small, or the same object. */
const isSameList = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some === others || (some.length === 0 && others.length === 0);

const isSameLabels = (some: ClusterRoleView['labels'], others: ClusterRoleView['labels']): boolean => {
  if (some === others) return true;
  const keys = Object.keys(some);
  return keys.length === Object.keys(others).length && keys.every((key) => some[key] === others[key]);
};
