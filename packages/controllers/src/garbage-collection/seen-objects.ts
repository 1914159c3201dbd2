/**
 * The set of objects that were delivered during the initial delivery: 8 bytes each, dropped when it completes. It stores 62 bits of a hash.
 * A collision is extremely rare; then a dependent without owners is kept for longer.
 */

export interface SeenObject {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Small: every control plane of a fleet may have one at the same time, and most have few objects. */
const placesMin = 16;
/** Maximum load before the table doubles. */
const loadMax = 0.6;

export class SeenObjects {
  /** Pairs; [0, 0] is free. */
  #table = new Uint32Array(2 * placesMin);
  #size = 0;
  /** Objects that were deleted since: few, and a uid never returns. */
  #gone: SeenObjects | undefined;

  get size(): number {
    return this.#size;
  }

  add(object: SeenObject): void {
    if (this.#size + 1 > (this.#table.length / 2) * loadMax) this.#grow();
    const [high, low] = hashOf(object);
    if (this.#put(high, low)) this.#size++;
  }

  /** Reports whether it was delivered and not deleted since. */
  has(object: SeenObject): boolean {
    const [high, low] = hashOf(object);
    const at = this.#find(high, low);
    return this.#table[at] === high && this.#table[at + 1] === low && this.#gone?.has(object) !== true;
  }

  /** Called when it was deleted during the delivery. */
  remove(object: SeenObject): void {
    if (this.has(object)) (this.#gone ??= new SeenObjects()).add(object);
  }

  #put(high: number, low: number): boolean {
    const at = this.#find(high, low);
    const isNew = this.#table[at] === 0 && this.#table[at + 1] === 0;
    this.#table[at] = high;
    this.#table[at + 1] = low;
    return isNew;
  }

  /** Returns its slot, or the free slot for it. */
  #find(high: number, low: number): number {
    const table = this.#table;
    const places = table.length / 2;
    for (let place = low % places; ; place = (place + 1) % places) {
      const at = 2 * place;
      if ((table[at] === high && table[at + 1] === low) || (table[at] === 0 && table[at + 1] === 0)) return at;
    }
  }

  #grow(): void {
    const before = this.#table;
    this.#table = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 2) {
      if (before[at] !== 0 || before[at + 1] !== 0) this.#put(before[at]!, before[at + 1]!);
    }
  }
}

/** Two hashes similar to FNV-1a, with different seeds; never both 0. */
function hashOf({ cluster, namespace, name, uid }: SeenObject): [high: number, low: number] {
  let high = 0x811c9dc5;
  let low = 0x01000193;
  for (const text of [uid, cluster, namespace, name]) {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      high = Math.imul(high ^ code, 0x01000193);
      low = Math.imul(low ^ code, 0x85ebca6b) ^ (low >>> 15);
    }
    // A separator that no string contains.
    high = Math.imul(high ^ 0x1_0000, 0x01000193);
    low = Math.imul(low ^ 0x1_0000, 0x85ebca6b);
  }
  return [(high | 1) >>> 0, low >>> 0];
}
