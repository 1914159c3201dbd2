/**
 * Which policies are asked again in the second round: those that want to be (`IfNeeded`) and were followed by a change of
 * the object, their own included.
 */

export class Reinvocation {
  readonly #wanting = new Set<string>();
  readonly #due = new Set<string>();

  /** A policy that wants to see what comes after it was asked. */
  asked(invocation: string): void {
    this.#wanting.add(invocation);
  }

  objectChanged(): void {
    for (const invocation of this.#wanting) this.#due.add(invocation);
    this.#wanting.clear();
  }

  isDue(invocation: string): boolean {
    return this.#due.has(invocation);
  }
}
