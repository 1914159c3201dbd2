/** The committed number of findings for each scope and package. A number may only become smaller; at 0 its entry disappears. */

import type { Finding } from './findings.ts';
import { packageOf, scopes } from './scopes.ts';
import type { Scope, ScopedFinding } from './scopes.ts';

export type Counts = Partial<Record<Scope, Record<string, number>>>;

export function countsOf(findings: readonly ScopedFinding[]): Counts {
  const counts: Counts = {};
  for (const { scope, file } of findings) {
    const ofScope = (counts[scope] ??= {});
    ofScope[packageOf(file)] = (ofScope[packageOf(file)] ?? 0) + 1;
  }
  return counts;
}

export interface Excess {
  readonly scope: Scope;
  readonly package: string;
  readonly count: number;
  readonly allowed: number;
  readonly findings: readonly Finding[];
}

/** Returns every scope and package with more findings than the baseline allows. */
export function excesses(findings: readonly ScopedFinding[], baseline: Counts): Excess[] {
  return entriesOf(countsOf(findings)).flatMap(({ scope, name, count }) => {
    const allowed = baseline[scope]?.[name] ?? 0;
    const inPackage = findings.filter((finding) => finding.scope === scope && packageOf(finding.file) === name);
    return count > allowed ? [{ scope, package: name, count, allowed, findings: inPackage }] : [];
  });
}

/** Returns the baseline with every number that is larger than today's lowered to it. */
export function lowered(baseline: Counts, findings: readonly ScopedFinding[]): Counts {
  const counts = countsOf(findings);
  const result: Counts = {};
  for (const { scope, name, count } of entriesOf(baseline)) {
    const now = Math.min(count, counts[scope]?.[name] ?? 0);
    if (now > 0) (result[scope] ??= {})[name] = now;
  }
  return result;
}

export function entriesOf(counts: Counts): { scope: Scope; name: string; count: number }[] {
  return scopes.flatMap((scope) =>
    Object.entries(counts[scope] ?? {})
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => ({ scope, name, count })),
  );
}
