/** Selects the policies for the second round: those with `reinvocationPolicy: IfNeeded` that ran before a later change of the object. */

export class Reinvocation {
  readonly #wanting = new Set<string>();
  readonly #due = new Set<string>();

  /** Records a policy that must see later changes. */
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
