/**
 * The part of an etcd that is this store: the keys under one prefix, which the shared watch covers. A key outside is refused, because its
 * events would not be delivered; a range is cut to the prefix. The empty prefix is all of etcd.
 */

import type { KeyRange, Write } from '../../contract.ts';
import { StoreError } from '../../errors.ts';
import { checkKey, intersection, prefixRange } from '../../keys.ts';

export class Scope {
  readonly prefix: string;
  readonly range: KeyRange;

  constructor(prefix: string) {
    if (prefix !== '') checkKey(prefix);
    this.prefix = prefix;
    this.range = prefixRange(prefix);
  }

  /** Throws `InvalidKey`. */
  check(key: string): void {
    if (key.startsWith(this.prefix)) return;
    throw new StoreError('InvalidKey', `the key ${JSON.stringify(key)} is not under ${JSON.stringify(this.prefix)}`);
  }

  /** Returns undefined if the range does not overlap the prefix. */
  cut(range: KeyRange): KeyRange | undefined {
    const cut = intersection(range, this.range);
    // No key is before this bound, but etcd would take it for "to the last key".
    return cut?.end === '\u0000' ? undefined : cut;
  }

  /** Returns the writes with their ranges cut. Deletions outside the prefix are left out. */
  cutWrites(writes: readonly Write[]): readonly Write[] {
    const cut: Write[] = [];
    for (const write of writes) {
      if (write.type !== 'deleteRange') {
        this.check(write.key);
        cut.push(write);
        continue;
      }
      const range = this.cut(write.range);
      if (range) cut.push({ type: 'deleteRange', range });
    }
    return cut;
  }
}
