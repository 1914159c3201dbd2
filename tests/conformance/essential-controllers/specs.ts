/** The specs that must pass, and those that are left out, with what they need besides. */

import { readFileSync } from 'node:fs';
import { parseSpecs } from '../e2e/specs.ts';
import type { Spec } from '../e2e/specs.ts';

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

export const essentialSpecs = (): Spec[] => parseSpecs(read('specs.txt'));

/** Name → what it needs. */
export function leftOutSpecs(): ReadonlyMap<string, string> {
  const lines = read('left-out.txt').split('\n');
  return new Map(
    lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split('\t'))
      .map(([needs, name]) => [name!, needs!]),
  );
}
