/** `Warning` headers: `299 - "policy/v1beta1 is deprecated"` (RFC 7234, 5.5). Each text is reported once, as in kubectl. */

/** Above this number of distinct texts they are ignored, to bound the memory. */
const textsMax = 1_000;
const one = /(\d{3}) (?:[^\s"]+) "((?:[^"\\]|\\.)*)"/g;

export class Warnings {
  readonly #onWarning: (text: string) => void;
  readonly #told = new Set<string>();

  constructor(onWarning: (text: string) => void) {
    this.#onWarning = onWarning;
  }

  /** Reads one header, or several joined ones. Codes other than 299 are about caches. */
  read(header: string): void {
    for (const [, code, quoted] of header.matchAll(one)) {
      const text = quoted!.replaceAll(/\\(.)/g, '$1');
      if (code !== '299' || this.#told.has(text) || this.#told.size >= textsMax) continue;
      this.#told.add(text);
      this.#onWarning(text);
    }
  }
}
