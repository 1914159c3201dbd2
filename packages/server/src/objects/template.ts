/**
 * Values that many control planes have in common, each with its own uid and times inserted. Data that is derived from such a value and
 * contains neither is computed once for all control planes: it is attached to the template, which outlives the values.
 */

/** One object of the shared base, the same for every control plane. Compared by identity. */
export type Template = object;

const template = Symbol('template');

interface Marked {
  [template]?: Template;
}

/** Marks the value itself: a separate table would cost more than the copy does. */
export function markTemplate(value: Uint8Array, of: Template): void {
  (value as Marked)[template] = of;
}

/** Returns undefined for values that a control plane stored itself. */
export const templateOf = (value: Uint8Array): Template | undefined => (value as Marked)[template];

/** Values derived from templates, by their maker. */
export class MadeOfTemplates {
  readonly #made = new WeakMap<Template, Map<unknown, unknown>>();

  /** Throws the error of `make`; then nothing is kept. `maker` identifies the derived value: the same for all callers that may share it. */
  get<T>(of: Template, maker: unknown, make: () => T): T {
    let made = this.#made.get(of);
    if (!made) this.#made.set(of, (made = new Map()));
    if (made.has(maker)) return made.get(maker) as T;
    const result = make();
    made.set(maker, result);
    return result;
  }
}
