/**
 * Many expositions as one: each family once, with the samples of all together, as the text format demands. The first to describe
 * a family is right; who has another kind of thing under its name is left out, as nobody could read the two as one.
 *
 * What is kept is each exposition's bytes and where its families are in them: the merged text is made while it is sent.
 */

import { suffixes } from './exposition.ts';
import type { Exposition, Family } from './exposition.ts';

interface Part {
  /** Where it comes among the others. */
  readonly order: number;
  /** Not the exposition: the names in it hold on to the text that they were read from. */
  readonly bytes: Buffer;
  readonly ranges: readonly number[];
}

interface MergedFamily {
  help: string | undefined;
  readonly type: string | undefined;
  readonly parts: Part[];
}

const chunkBytes = 64 * 1024;

export class MergedExposition {
  readonly #families = new Map<string, MergedFamily>();
  /** Whose samples have this name. */
  readonly #owners = new Map<string, MergedFamily>();
  #byteLength = 0;

  /** Of what is kept. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** What all have in common is counted once. */
  get familyCount(): number {
    return this.#families.size;
  }

  /** Samples are in the order of `order`, whenever they were added. Which names it may not have: `isReserved`. */
  add({ bytes, families }: Exposition, order: number, isReserved: (name: string) => boolean = () => false): void {
    this.#byteLength += bytes.length;
    for (const family of families.values()) {
      if (family.ranges.length === 0 || isReserved(family.name)) continue;
      const merged = this.#families.get(family.name) ?? this.#newFamily(family);
      if (!merged || !hasSameSamples(merged, family)) continue;
      merged.help ??= family.help;
      merged.parts.push({ order, bytes, ranges: family.ranges });
    }
  }

  /** In the order of names, as Prometheus' own libraries do. The pieces are no one else's. */
  *chunks(): Generator<Buffer, void, void> {
    let chunk = Buffer.allocUnsafe(chunkBytes);
    let used = 0;
    for (const piece of this.#pieces()) {
      for (let from = 0; from < piece.length;) {
        const copied = piece.copy(chunk, used, from);
        from += copied;
        used += copied;
        if (used < chunkBytes) continue;
        yield chunk;
        chunk = Buffer.allocUnsafe(chunkBytes);
        used = 0;
      }
    }
    if (used > 0) yield chunk.subarray(0, used);
  }

  *#pieces(): Generator<Buffer, void, void> {
    const byName = [...this.#families].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [name, { help, type, parts }] of byName) {
      const head = `${help === undefined ? '' : `# HELP ${name} ${help}\n`}${type === undefined ? '' : `# TYPE ${name} ${type}\n`}`;
      if (head !== '') yield Buffer.from(head, 'latin1');
      for (const { bytes, ranges } of parts.toSorted((a, b) => a.order - b.order)) {
        for (let i = 0; i < ranges.length; i += 2) yield bytes.subarray(ranges[i], ranges[i + 1]);
      }
    }
  }

  /** Undefined: some of its samples would have the names of another's. */
  #newFamily({ name, type }: Family): MergedFamily | undefined {
    const names = [name, ...suffixes(type).map((suffix) => name + suffix)];
    if (names.some((one) => this.#owners.has(one))) return undefined;
    const merged: MergedFamily = { help: undefined, type, parts: [] };
    this.#families.set(name, merged);
    for (const one of names) this.#owners.set(one, merged);
    return merged;
  }
}

/** A counter that is a gauge elsewhere is a number all the same. */
const hasSameSamples = (merged: MergedFamily, family: Family): boolean =>
  merged.type === family.type || (suffixes(merged.type).length === 0 && suffixes(family.type).length === 0);
