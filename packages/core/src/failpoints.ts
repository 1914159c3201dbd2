/**
 * Named places in production code where a test makes something happen: an error, a side effect, a pause. A place
 * that no test armed costs one look at an empty map.
 *
 *     failpoints.hit('journal.write');                            // in the code
 *     failpoints.arm('journal.write', { times: 1, throws: … });   // in the test
 */

export interface FailpointAction {
  /** Let this many hits pass first. */
  skip?: number;
  /** Act on this many hits, then disarm; unlimited when absent. */
  times?: number;
  throws?: Error;
  run?: () => void;
}

export class Failpoints {
  readonly #armed = new Map<string, FailpointAction>();

  arm(name: string, action: FailpointAction): void {
    this.#armed.set(name, { ...action });
  }

  disarm(name: string): void {
    this.#armed.delete(name);
  }

  hit(name: string): void {
    if (this.#armed.size === 0) return;
    const action = this.#armed.get(name);
    if (!action) return;
    if (action.skip !== undefined && action.skip > 0) {
      action.skip--;
      return;
    }
    if (action.times !== undefined && --action.times <= 0) this.#armed.delete(name);
    action.run?.();
    if (action.throws) throw action.throws;
  }
}
