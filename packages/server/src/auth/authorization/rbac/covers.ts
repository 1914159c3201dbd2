/** Does who grants rules have them? Each rule is taken apart into its smallest pieces, and each piece must be covered whole. */

import { quote } from '@hangar/api';
import { coversPath } from './rules.ts';
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

/** The rules are more than what may be compared: nobody is told that they are covered. */
export class TooManyPieces extends Error {}

/** The pieces of `granted` that no rule of `owned` covers. */
export function uncovered(owned: readonly PolicyRule[], granted: readonly PolicyRule[]): Piece[] {
  if (pieceCount(granted) > piecesMax) throw new TooManyPieces('the rules have too many combinations');
  const owners = owned.map(prepared);
  return granted.flatMap((rule) => pieces(rule).filter((piece) => !owners.some((owner) => covers(owner, piece))));
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

function pieces({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule): Piece[] {
  const names = resourceNames.length > 0 ? resourceNames.map((name) => ({ name })) : [{}];
  const found: Piece[] = [];
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) for (const name of names) found.push({ verb, group, resource, ...name });
    }
  }
  for (const path of nonResourceURLs) for (const verb of verbs) found.push({ verb, path });
  return found;
}

interface Owner {
  readonly verbs: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly paths: readonly string[];
}

const prepared = (rule: PolicyRule): Owner => ({
  verbs: new Set(rule.verbs),
  groups: new Set(rule.apiGroups),
  resources: new Set(rule.resources),
  names: new Set(rule.resourceNames),
  paths: rule.nonResourceURLs ?? [],
});

/** A star is covered by a star only; who may do something to one name may not to all. */
function covers(
  { verbs, groups, resources, names, paths }: Owner,
  { verb, group, resource, name, path }: Piece,
): boolean {
  if (!verbs.has('*') && !verbs.has(verb)) return false;
  if (path !== undefined) return names.size === 0 && paths.some((pattern) => coversPath(pattern, path));
  if (!groups.has('*') && !groups.has(group!)) return false;
  if (names.size > 0 && (name === undefined || !names.has(name))) return false;
  if (resources.has('*') || resources.has(resource!)) return true;
  const slash = resource!.indexOf('/');
  return slash >= 0 && resources.has(`*${resource!.slice(slash)}`);
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
  return [...lines].sort(byBytes).join('\n');
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
