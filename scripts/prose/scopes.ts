/**
 * Reads the repository and sorts its prose into scopes:
 *
 *   strings     string and template literals of the product
 *   documents   Markdown
 *   exported    doc comments of the public entries of client, runtime, testkit and the aggregated-server library
 *   comments    all other comments
 */

import { globSync, readFileSync } from 'node:fs';
import { isTestCode } from '../imports/rules.ts';
import { publicEntries } from '../imports/sources.ts';
import { exportedComments } from './exported.ts';
import { findingsOf } from './findings.ts';
import type { Finding } from './findings.ts';
import { paragraphsOf } from './markdown.ts';
import { quotations } from './quotations.ts';
import type { Segment } from './segment.ts';
import { commentsOf, stringsOf, tokensOf } from './typescript-source.ts';

export const scopes = ['strings', 'documents', 'exported', 'comments'] as const;
export type Scope = (typeof scopes)[number];

export interface ScopedFinding extends Finding {
  readonly scope: Scope;
}

export interface Prose {
  readonly findings: readonly ScopedFinding[];
  /** Quotations on the allow-list that no text contains. */
  readonly unusedQuotations: readonly string[];
}

const sources = '{packages,operators,services,apps,bin,examples,bench,scripts,tests,tools}/**/*.{ts,js}';
const publicPackages = /^@hangar\/(?:client|runtime|testkit)(?:\/|$)|^@hangar\/server\/library$/;
const isProduct = (file: string): boolean =>
  /^(?:packages|operators|services|apps|bin)\//.test(file) && !isTestCode(file);
/** Generated kinds with the texts of Kubernetes, and this folder, which quotes the constructions that it finds. */
const isExempt = (file: string): boolean => /^packages\/client\/src\/kinds\/|^scripts\/prose\//.test(file);
/** Simulators, fuzzers and helpers of tests print for developers only. */
const isInternal = (file: string): boolean => /\/(?:simulation|fuzzing)\/|\/testing\.ts$/.test(file);

/** Returns the package or folder that a count is kept for. */
export function packageOf(file: string): string {
  const [first = '', second = ''] = file.split('/');
  if (!file.includes('/')) return '.';
  return ['packages', 'apps', 'operators', 'services', 'examples'].includes(first) ? `${first}/${second}` : first;
}

export function readProse(root: string): Prose {
  const read = (file: string): string => readFileSync(root + file, 'utf8');
  const used = new Set<string>();
  const findings: ScopedFinding[] = [];
  const add = (scope: Scope, file: string, source: string, segments: readonly Segment[]): void => {
    const found = findingsOf(file, source, segments, quotations, ({ text }) => used.add(text));
    findings.push(...found.map((finding) => ({ ...finding, scope })));
  };

  const exported = new Map<string, Segment[]>();
  for (const [name, entry] of publicEntries(root)) {
    if (!publicPackages.test(name) || isExempt(entry)) continue;
    for (const [file, segments] of exportedComments(entry, read)) {
      exported.set(file, [...(exported.get(file) ?? []), ...segments]);
    }
  }

  const ours = (file: string): boolean => !file.includes('node_modules');
  for (const file of globSync(sources, { cwd: root })
    .filter((file) => ours(file) && !isExempt(file))
    .sort()) {
    const source = read(file);
    const tokens = tokensOf(source);
    if (isProduct(file) && !isInternal(file)) add('strings', file, source, stringsOf(source, tokens));
    const documented = new Map((exported.get(file) ?? []).map((segment) => [segment.start, segment]));
    add('exported', file, source, [...documented.values()]);
    add(
      'comments',
      file,
      source,
      commentsOf(source, tokens).filter(({ start }) => !documented.has(start)),
    );
  }
  for (const file of globSync('**/*.md', { cwd: root, exclude: ['dist', 'node_modules', '**/node_modules'] }).sort()) {
    const source = read(file);
    add('documents', file, source, paragraphsOf(source));
  }
  return { findings, unusedQuotations: quotations.map(({ text }) => text).filter((text) => !used.has(text)) };
}
