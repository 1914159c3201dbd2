/** Does who grants rules have them? Each rule is taken apart into its smallest pieces, and each piece must be covered whole. */

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

/** More pieces than a policy of people has; a rule of thousands of verbs on thousands of resources would be millions. */
const piecesMax = 50_000;
/** Comparisons of pieces with rules. An index makes most pieces need one or two. */
const comparisonsMax = 2_000_000;
/** Pieces, rules and comparisons after which work may pause. */
const pauseSteps = 256;

/** The rules are more than what may be compared: they do not count as covered. */
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

/** The same for rules that this program declares: few of them, at once. */
export function uncoveredAtOnce(owned: Iterable<PolicyRule>, granted: readonly PolicyRule[]): Piece[] {
  const steps = uncovered(owned, granted);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Rules by what they are about: a piece is compared with those that name its resource or path, or all. */
class Owners {
  readonly #byResource = new Map<string, Owner[]>();
  readonly #byPath = new Map<string, Owner[]>();
  /** Of paths that end in a star, by what is before it. */
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

/** The same pieces as rules again, for those who add what is missing. */
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
 * Returns whether a rule that names the piece's path or resource covers the piece. Only a star covers a star. A rule for one name
 * does not cover all names.
 */
function covers({ verbs, groups, names }: Owner, { verb, group, name, path }: Piece): boolean {
  if (!verbs.has('*') && !verbs.has(verb)) return false;
  if (path !== undefined) return names.size === 0;
  if (!groups.has('*') && !groups.has(group!)) return false;
  return names.size === 0 || (name !== undefined && names.has(name));
}

/** One line each, verbs of the same resource together: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
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

/** As Go sorts texts. Below the surrogates, the order of UTF-16 is the order of bytes. */
function inByteOrder(lines: string[]): string[] {
  if (!lines.some((line) => /[\ud800-\uffff]/.test(line))) return lines.sort();
  return lines
    .map((line) => [line, Buffer.from(line)] as const)
    .sort(([, a], [, b]) => Buffer.compare(a, b))
    .map(([line]) => line);
}
