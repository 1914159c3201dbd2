/** Applies the rules to segments and prints findings as `FILE:LINE: "excerpt": rule: suggestion`. */

import { rules } from './rules.ts';
import type { Segment } from './segment.ts';

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly excerpt: string;
  readonly rule: string;
  readonly suggestion: string;
}

/** A quotation that the rules would find, such as a text of Kubernetes. */
export interface Quotation {
  readonly text: string;
  readonly reason: string;
}

/** Finds each place once: of rules that match overlapping text, the first in the table is reported. */
export function findingsOf(
  file: string,
  source: string,
  segments: readonly Segment[],
  quotations: readonly Quotation[] = [],
  onQuotation: (used: Quotation) => void = () => {},
): Finding[] {
  const found: { readonly at: number; readonly finding: Finding }[] = [];
  for (const segment of segments) {
    const quoted = quotations.flatMap((quotation) => rangesOf(segment, source, quotation));
    const taken: [start: number, end: number][] = [];
    for (const { name, pattern, suggestion, kinds } of rules) {
      if (kinds && !kinds.includes(segment.kind)) continue;
      for (const match of segment.text.matchAll(pattern)) {
        const lead = match[0].length - match[0].trimStart().length;
        const start = segment.start + match.index + lead;
        const end = segment.start + match.index + match[0].length;
        const quotation = quoted.find((range) => range.start <= start && end <= range.end);
        if (quotation) onQuotation(quotation.quotation);
        if (quotation || taken.some((range) => start < range[1] && range[0] < end)) continue;
        taken.push([start, end]);
        const line = source.slice(0, start).split('\n').length;
        const excerpt = excerptOf(source, segment, start, end);
        found.push({ at: start, finding: { file, line, excerpt, rule: name, suggestion } });
      }
    }
  }
  return found.sort((a, b) => a.at - b.at).map(({ finding }) => finding);
}

export function textOf({ file, line, excerpt, rule, suggestion }: Finding): string {
  return `${file}:${line}: "${excerpt}": ${rule}: ${suggestion}`;
}

function rangesOf(
  segment: Segment,
  source: string,
  quotation: Quotation,
): { start: number; end: number; quotation: Quotation }[] {
  const whole = source.slice(segment.start, segment.start + segment.text.length);
  const ranges = [];
  for (let at = whole.indexOf(quotation.text); at >= 0; at = whole.indexOf(quotation.text, at + 1)) {
    ranges.push({ start: segment.start + at, end: segment.start + at + quotation.text.length, quotation });
  }
  return ranges;
}

/** The match with some words around it, on one line. */
function excerptOf(source: string, segment: Segment, start: number, end: number): string {
  const segmentEnd = segment.start + segment.text.length;
  let from = Math.max(segment.start, start - 24);
  let to = Math.min(segmentEnd, end + 32);
  while (from > segment.start && /\S/.test(source[from - 1]!)) from--;
  while (to < segmentEnd && /\S/.test(source[to]!)) to++;
  const line = source.slice(from, to).replaceAll(/\s*\n[\s*/]*/g, ' ');
  return line.trim();
}
