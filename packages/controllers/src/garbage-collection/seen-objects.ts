/**
 * Which objects were seen while everything that there is was told: 8 bytes each, kept until that is over. By 62 bits of a hash, so that
 * one that was not seen passes for seen once in a great many fleets; then a dependent of nobody is left for longer.
 */

export interface SeenObject {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** There may be one of these for each control plane of a fleet, all at once, and most have little to be seen. */
const placesMin = 16;
/** Of places that are taken, before there are twice as many. */
const loadMax = 0.6;

export class SeenObjects {
  /** Pairs; [0, 0] is free. */
  #table = new Uint32Array(2 * placesMin);
  #size = 0;
  /** Of them, what has gone since: few, and a uid never comes back. */
  #gone: SeenObjects | undefined;

  get size(): number {
    return this.#size;
  }

  add(object: SeenObject): void {
    if (this.#size + 1 > (this.#table.length / 2) * loadMax) this.#grow();
    const [high, low] = hashOf(object);
    if (this.#put(high, low)) this.#size++;
  }

  /** It was seen, and has not gone since. */
  has(object: SeenObject): boolean {
    const [high, low] = hashOf(object);
    const at = this.#find(high, low);
    return this.#table[at] === high && this.#table[at + 1] === low && this.#gone?.has(object) !== true;
  }

  /** It has gone, while others are still being told. */
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

  /** Where it is, or would be. */
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

/** Two hashes by FNV-1a's way, from two beginnings; never both 0. */
function hashOf({ cluster, namespace, name, uid }: SeenObject): [high: number, low: number] {
  let high = 0x811c9dc5;
  let low = 0x01000193;
  for (const text of [uid, cluster, namespace, name]) {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      high = Math.imul(high ^ code, 0x01000193);
      low = Math.imul(low ^ code, 0x85ebca6b) ^ (low >>> 15);
    }
    // An end that no text has in it.
    high = Math.imul(high ^ 0x1_0000, 0x01000193);
    low = Math.imul(low ^ 0x1_0000, 0x85ebca6b);
  }
  return [(high | 1) >>> 0, low >>> 0];
}
