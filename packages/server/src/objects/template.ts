/**
 * Values that many control planes have in common, each with a uid and times of its own written in. What is made of such a
 * value, and has neither in it, can be made once for all of them: it hangs on the template, which outlives the values.
 */

/** One object of the shared base, the same for every control plane. Known by its identity alone. */
export type Template = object;

const template = Symbol('template');

interface Marked {
  [template]?: Template;
}

/** A mark on the value itself, which goes with it: a table beside would cost more than the copy does. */
export function markTemplate(value: Uint8Array, of: Template): void {
  (value as Marked)[template] = of;
}

/** Undefined for everything that a control plane stored itself. */
export const templateOf = (value: Uint8Array): Template | undefined => (value as Marked)[template];

/** What was made of templates, by what made it. */
export class MadeOfTemplates {
  readonly #made = new WeakMap<Template, Map<unknown, unknown>>();

  /** Throws what `make` throws; then nothing is kept. `maker` says what is made: the same for all who may share it. */
  get<T>(of: Template, maker: unknown, make: () => T): T {
    let made = this.#made.get(of);
    if (!made) this.#made.set(of, (made = new Map()));
    if (made.has(maker)) return made.get(maker) as T;
    const result = make();
    made.set(maker, result);
    return result;
  }
}
