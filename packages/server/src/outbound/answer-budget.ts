/** Limits the bytes of responses that are held at the same time: per request, per control plane, per process. */

import { OutboundError } from './errors.ts';

export class AnswerBudget {
  readonly #bytesMax: number;
  readonly #parent: AnswerBudget | undefined;
  readonly #of: string;
  #bytes = 0;

  /** `of` names the owner in messages: "this control plane". Bytes are charged to the parent too. */
  constructor(bytesMax: number, of: string, parent?: AnswerBudget) {
    this.#bytesMax = bytesMax;
    this.#of = of;
    this.#parent = parent;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Throws `TooLarge` and takes nothing if not enough is left. */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax) {
      throw new OutboundError(
        'TooLarge',
        `the responses for ${this.#of} are larger than ${this.#bytesMax} bytes in total`,
      );
    }
    this.#parent?.take(bytes);
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
    this.#parent?.give(bytes);
  }
}
