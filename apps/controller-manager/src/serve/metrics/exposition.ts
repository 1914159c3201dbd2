/**
 * Parses metrics in Prometheus' text format (0.0.4) line by line, and adds labels. A text with an invalid line is refused as a whole,
 * because Prometheus would refuse the whole merged answer.
 *
 * Bytes are read as Latin-1, one character each, regardless of encoding: that is the cheapest, and nothing has to be encoded again.
 */

import { isUtf8 } from 'node:buffer';
import { ServeError } from '../errors.ts';

export interface Exposition {
  /** Only the lines with samples. */
  readonly bytes: Buffer;
  /** By name, in the order of the text. */
  readonly families: ReadonlyMap<string, Family>;
}

export interface Family {
  readonly name: string;
  /** As written, after the name. */
  help: string | undefined;
  type: string | undefined;
  /** Ranges of `bytes`: from, to, from, to. One pair unless its samples are apart. */
  readonly ranges: number[];
}

export interface ReadLimits {
  /** Number of lines of any kind: samples, descriptions, comments, empty ones. */
  readonly lines: number;
  readonly families: number;
  /** Bytes of samples, including the added labels. */
  readonly bytes: number;
}

export interface ReadOptions {
  /** Absent: none. */
  readonly limits?: ReadLimits | undefined;
  /** Added to every sample. A label of the same name in a sample is renamed: `exported_…`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Keeps only samples with one of these labels, as `name="value"`. */
  readonly onlyWith?: ReadonlySet<string>;
}

const label = String.raw`[ \t]*[a-zA-Z_]\w*[ \t]*=[ \t]*"(?:[^"\\\n]|\\[^\n])*"[ \t]*`;
/** Free of ambiguous blanks: a mismatch must be fast, too. */
const sampleLine = new RegExp(
  String.raw`([a-zA-Z_:][\w:]*)(?:[ \t]*\{(${label}(?:,${label})*(?:,[ \t]*)?|[ \t]*)\})?` +
    String.raw`([ \t]+[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|[iI]nf|[nN]a[nN])(?:[ \t]+-?\d+)?)[ \t]*(?:\n|$)`,
  'y',
);
const describingLine = /#[ \t]+(HELP|TYPE)[ \t]+([a-zA-Z_:][\w:]*)(?:[ \t]+([^\n]*))?(?:\n|$)/y;
const otherLine = /(?:#[^\n]*|[ \t]*)(?:\n|$)/y;
const labelsOf = /([a-zA-Z_]\w*)[ \t]*=[ \t]*("(?:[^"\\\n]|\\[^\n])*")/g;

const types: ReadonlySet<string> = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped']);

/** Suffixes of the samples of a type, besides the family's own name. */
const suffixesOf: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['_sum', '_count'],
};

export const suffixes = (type: string | undefined): readonly string[] => suffixesOf[type ?? ''] ?? [];

/** Number of lines that are read in at most a millisecond. */
const pieceLines = 256;
/** A longer sample is hostile: hundreds of labels fit in. */
const sampleCharactersMax = 64 * 1024;

/** Reads in pieces, with `giveWay` in between. Rejects with MalformedMetrics, TooManyMetrics, and with the error of `giveWay`. */
export async function readExposition(
  content: Uint8Array | string,
  giveWay: () => Promise<void>,
  options: ReadOptions = {},
): Promise<Exposition> {
  const reader = new Reader(latin1(content), options);
  while (reader.readPiece()) await giveWay();
  return reader.read;
}

class Reader {
  readonly #text: string;
  readonly #added: readonly string[];
  /** `a="1",b="2"`, put in front. */
  readonly #addedText: string;
  readonly #onlyWith: ReadonlySet<string> | undefined;
  readonly #families = new Map<string, Family>();
  /** Families by the names of samples. */
  readonly #owners = new Map<string, Family>();
  readonly #lines: string[] = [];
  readonly #limits: ReadLimits | undefined;
  #length = 0;
  #at = 0;
  #lineCount = 0;

  constructor(text: string, { labels = {}, onlyWith, limits }: ReadOptions) {
    this.#text = text;
    this.#limits = limits;
    this.#added = Object.keys(labels);
    this.#addedText = this.#added.map((name) => labelPair(name, labels[name]!)).join(',');
    this.#onlyWith = onlyWith;
  }

  /** Returns false after the last piece. */
  readPiece(): boolean {
    const text = this.#text;
    for (let count = 0; count < pieceLines && this.#at < text.length; count++) {
      this.#lineCount++;
      this.#refuseTooLong();
      const match = matched(sampleLine, text, this.#at);
      this.#at += match ? this.#sample(match) : this.#noSample();
      this.#refuseTooMuch();
    }
    return this.#at < text.length;
  }

  get read(): Exposition {
    return { bytes: Buffer.from(this.#lines.join(''), 'latin1'), families: this.#families };
  }

  #refuseTooLong(): void {
    const [text, at] = [this.#text, this.#at];
    if (text.length - at <= sampleCharactersMax || text[at] === '#') return;
    const end = text.indexOf('\n', at);
    if ((end === -1 ? text.length : end) - at > sampleCharactersMax) throw this.#malformed();
  }

  #refuseTooMuch(): void {
    if (!this.#limits) return;
    const { lines, families, bytes } = this.#limits;
    const refuse = (what: string): ServeError => new ServeError('TooManyMetrics', `more than ${what}`);
    if (this.#lineCount > lines) throw refuse(`${lines} lines`);
    if (this.#families.size > families) throw refuse(`${families} families`);
    if (this.#length > bytes) throw refuse(`${bytes} bytes of samples`);
  }

  /** Returns the length of the line. */
  #sample([all, name, labels = '', value]: RegExpExecArray): number {
    const line = `${name}${this.#labels(labels.trim())}${value}\n`;
    if (this.#onlyWith === undefined || this.#isWanted(labels)) {
      const { ranges } = this.#owners.get(name!) ?? this.#declare(name!);
      // An adjacent line extends the last range.
      if (ranges.at(-1) === this.#length) ranges[ranges.length - 1] = this.#length + line.length;
      else ranges.push(this.#length, this.#length + line.length);
      this.#lines.push(line);
      this.#length += line.length;
    }
    return all.length;
  }

  #labels(given: string): string {
    if (this.#addedText === '') return given === '' ? '' : `{${given}}`;
    if (given === '') return `{${this.#addedText}}`;
    const isTaken = this.#added.some((name) => given.includes(name));
    return `{${this.#addedText},${isTaken ? this.#renamed(given) : given}}`;
  }

  #renamed(given: string): string {
    const pairs = [...given.matchAll(labelsOf)];
    // Prometheus would refuse a repeated name, and finding free names for all of them could take for ever.
    if (new Set(pairs.map(([, name]) => name)).size < pairs.length) throw this.#malformed();
    const taken = new Set([...this.#added, ...pairs.map(([, name]) => name!)]);
    return pairs
      .map(([, name, value]) => {
        let free = name!;
        if (this.#added.includes(name!)) while (taken.has(free)) free = `exported_${free}`;
        taken.add(free);
        return `${free}=${value}`;
      })
      .join(',');
  }

  #isWanted(labels: string): boolean {
    return [...labels.matchAll(labelsOf)].some(([, name, value]) => this.#onlyWith!.has(`${name}=${value}`));
  }

  /** Returns the length of the line. */
  #noSample(): number {
    const described = matched(describingLine, this.#text, this.#at);
    if (described) {
      const [all, keyword, name, rest = ''] = described;
      if (keyword === 'TYPE' && !types.has(rest.trim())) throw this.#malformed();
      this.#describe(keyword!, name!, rest);
      return all.length;
    }
    const other = matched(otherLine, this.#text, this.#at);
    if (!other) throw this.#malformed();
    return other[0].length;
  }

  /** The first description counts. One behind the samples is too late: their family is known by then. */
  #describe(keyword: string, name: string, rest: string): void {
    const family = this.#families.get(name) ?? this.#owners.get(name) ?? this.#declare(name);
    if (family.name !== name || family.ranges.length > 0) return;
    if (keyword === 'HELP') family.help ??= rest;
    else if (family.type === undefined) {
      family.type = rest.trim();
      for (const suffix of suffixes(family.type)) {
        if (!this.#owners.has(name + suffix)) this.#owners.set(name + suffix, family);
      }
    }
  }

  #malformed(): ServeError {
    return new ServeError('MalformedMetrics', `line ${this.#lineCount} is not in the text format`);
  }

  #declare(name: string): Family {
    const family: Family = { name, help: undefined, type: undefined, ranges: [] };
    this.#families.set(name, family);
    this.#owners.set(name, family);
    return family;
  }
}

function matched(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Replaces invalid UTF-8: Prometheus would refuse the whole text. */
function latin1(content: Uint8Array | string): string {
  if (typeof content === 'string') return Buffer.from(content).toString('latin1');
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  return (isUtf8(bytes) ? bytes : Buffer.from(bytes.toString())).toString('latin1');
}

/** Returns `name="value"`, escaped; UTF-8 read as Latin-1. */
export function labelPair(name: string, value: string): string {
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return latin1(`${name}="${escaped}"`);
}
