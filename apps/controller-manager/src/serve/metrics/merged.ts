/**
 * Merges expositions: each family once, with the samples of all together, as the text format requires. The first description of a family
 * counts; an exposition with another type under its name is left out, because the two cannot be combined.
 *
 * Keeps the bytes of each exposition and the ranges of its families: the merged text is generated while it is sent.
 */

import { suffixes } from './exposition.ts';
import type { Exposition, Family } from './exposition.ts';

interface Part {
  /** Position among the others. */
  readonly order: number;
  /** Not the exposition: its names keep the source text in memory. */
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
  /** Families by the names of their samples. */
  readonly #owners = new Map<string, MergedFamily>();
  #byteLength = 0;

  /** Bytes in memory. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** A family of several expositions counts once. */
  get familyCount(): number {
    return this.#families.size;
  }

  /** Samples are sorted by `order`, independent of the order of the calls. `isReserved`: names that it must not have. */
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

  /** Sorted by name, as Prometheus' own libraries do. The chunks are not shared. */
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

  /** Undefined: some of its samples would have the names of another family. */
  #newFamily({ name, type }: Family): MergedFamily | undefined {
    const names = [name, ...suffixes(type).map((suffix) => name + suffix)];
    if (names.some((one) => this.#owners.has(one))) return undefined;
    const merged: MergedFamily = { help: undefined, type, parts: [] };
    this.#families.set(name, merged);
    for (const one of names) this.#owners.set(one, merged);
    return merged;
  }
}

/** A counter that is a gauge elsewhere has compatible samples. */
const hasSameSamples = (merged: MergedFamily, family: Family): boolean =>
  merged.type === family.type || (suffixes(merged.type).length === 0 && suffixes(family.type).length === 0);
