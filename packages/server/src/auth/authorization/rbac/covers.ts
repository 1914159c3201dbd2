/** Checks whether a user holds the rules that they grant. Each rule is split into its smallest pieces, and each piece must be covered. */

import { quote } from '@hangar/api';
import type { Steps } from '@hangar/core';
import { prefixOf } from './rules.ts';
import type { PolicyRule } from './rules.ts';

/** One verb on one resource of one group, with at most one name; or one verb on one path. */
export interface Piece {
  readonly verb: string;
  readonly group?: string;
  readonly resource?: string;
  readonly name?: string;
  readonly path?: string;
}

/** More pieces than usual policies have; a rule of thousands of verbs on thousands of resources would have millions. */
const piecesMax = 50_000;
/** Limit on comparisons of pieces with rules. With the index, most pieces need one or two. */
const comparisonsMax = 2_000_000;
/** Number of pieces, rules and comparisons after which work may pause. */
const pauseSteps = 256;

/** The rules exceed the limits of the comparison: they do not count as covered. */
export class TooManyPieces extends Error {}

/** Returns the pieces of `granted` that no rule of `owned` covers. Throws TooManyPieces. */
export function* uncovered(owned: Iterable<PolicyRule>, granted: readonly PolicyRule[]): Steps<Piece[]> {
  if (pieceCount(granted) > piecesMax) throw tooMany();
  let steps = 0;
  const owners = new Owners();
  for (const rule of owned) {
    owners.add(rule);
    if (++steps % pauseSteps === 0) yield;
  }
  const missing: Piece[] = [];
  steps = 0;
  for (const rule of granted) {
    for (const piece of pieces(rule)) {
      let isCovered = false;
      for (const owner of owners.candidates(piece)) {
        if (++steps > comparisonsMax) throw tooMany();
        if (steps % pauseSteps === 0) yield;
        if ((isCovered = owner !== undefined && covers(owner, piece))) break;
      }
      if (!isCovered) missing.push(piece);
      if (++steps % pauseSteps === 0) yield;
    }
  }
  return missing;
}

const tooMany = (): TooManyPieces => new TooManyPieces('the rules have too many combinations');

/** Synchronous variant of `uncovered`, for the few rules that this program declares. */
export function uncoveredAtOnce(owned: Iterable<PolicyRule>, granted: readonly PolicyRule[]): Piece[] {
  const steps = uncovered(owned, granted);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Index of rules: a piece is compared only with rules that name its resource or path, or all. */
class Owners {
  readonly #byResource = new Map<string, Owner[]>();
  readonly #byPath = new Map<string, Owner[]>();
  /** Paths that end in a star, by the prefix before it. */
  readonly #byPrefix = new Map<string, Owner[]>();
  readonly #prefixLengths = new Set<number>();

  add(rule: PolicyRule): void {
    const owner = prepared(rule);
    for (const resource of owner.resources) put(this.#byResource, resource, owner);
    for (const path of new Set(rule.nonResourceURLs)) {
      const prefix = prefixOf(path);
      if (prefix === undefined) put(this.#byPath, path, owner);
      else {
        put(this.#byPrefix, prefix, owner);
        this.#prefixLengths.add(prefix.length);
      }
    }
  }

  /** Yields undefined for a lookup without a result, which also counts as work. */
  *candidates({ resource = '', path }: Piece): Generator<Owner | undefined> {
    if (path !== undefined) {
      yield* this.#byPath.get(path) ?? [];
      for (const length of this.#prefixLengths) {
        if (length <= path.length) yield* this.#byPrefix.get(path.slice(0, length)) ?? [];
        yield undefined;
      }
      return;
    }
    yield* this.#byResource.get('*') ?? [];
    yield* this.#byResource.get(resource) ?? [];
    const slash = resource.indexOf('/');
    if (slash >= 0) yield* this.#byResource.get(`*${resource.slice(slash)}`) ?? [];
  }
}

function put(index: Map<string, Owner[]>, key: string, owner: Owner): void {
  const known = index.get(key);
  if (known) known.push(owner);
  else index.set(key, [owner]);
}

/** Converts a piece back to a rule, to add missing rules. */
export const ruleOfPiece = ({ verb, group, resource, name, path }: Piece): PolicyRule =>
  path !== undefined
    ? { verbs: [verb], nonResourceURLs: [path] }
    : {
        verbs: [verb],
        apiGroups: [group!],
        resources: [resource!],
        ...(name === undefined ? {} : { resourceNames: [name] }),
      };

function pieceCount(rules: readonly PolicyRule[]): number {
  let count = 0;
  for (const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules) {
    const kinds = apiGroups.length * resources.length * Math.max(resourceNames.length, 1);
    count += verbs.length * (kinds + nonResourceURLs.length);
  }
  return count;
}

function* pieces({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule): Generator<Piece> {
  const names = resourceNames.length > 0 ? resourceNames.map((name) => ({ name })) : [{}];
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) for (const name of names) yield { verb, group, resource, ...name };
    }
  }
  for (const path of nonResourceURLs) for (const verb of verbs) yield { verb, path };
}

interface Owner {
  readonly verbs: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

const prepared = (rule: PolicyRule): Owner => ({
  verbs: new Set(rule.verbs),
  groups: new Set(rule.apiGroups),
  resources: new Set(rule.resources),
  names: new Set(rule.resourceNames),
});

/**
 * Reports whether a rule that names the path or resource of the piece covers the piece. Only a star covers a star. A rule for one name does
 * not cover all names.
 */
function covers({ verbs, groups, names }: Owner, { verb, group, name, path }: Piece): boolean {
  if (!verbs.has('*') && !verbs.has(verb)) return false;
  if (path !== undefined) return names.size === 0;
  if (!groups.has('*') && !groups.has(group!)) return false;
  return names.size === 0 || (name !== undefined && names.has(name));
}

/** Returns one line per resource, with its verbs combined: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function describePieces(missing: readonly Piece[]): string {
  const verbsOf = new Map<string, string[]>();
  const lines = new Set<string>();
  for (const { verb, group, resource, name, path } of missing) {
    if (path !== undefined) {
      lines.add(`{NonResourceURLs:[${quote(path)}], Verbs:[${quote(verb)}]}`);
      continue;
    }
    const names = name === undefined ? '' : `ResourceNames:[${quote(name)}], `;
    const what = `APIGroups:[${quote(group!)}], Resources:[${quote(resource!)}], ${names}`;
    const verbs = verbsOf.get(what);
    if (verbs) verbs.push(verb);
    else verbsOf.set(what, [verb]);
  }
  for (const [what, verbs] of verbsOf) lines.add(`{${what}Verbs:[${verbs.map(quote).join(' ')}]}`);
  return inByteOrder([...lines]).join('\n');
}

/** Sorts like Go. Below the surrogates, UTF-16 order equals byte order. */
function inByteOrder(lines: string[]): string[] {
  if (!lines.some((line) => /[\ud800-\uffff]/.test(line))) return lines.sort();
  return lines
    .map((line) => [line, Buffer.from(line)] as const)
    .sort(([, a], [, b]) => Buffer.compare(a, b))
    .map(([line]) => line);
}
