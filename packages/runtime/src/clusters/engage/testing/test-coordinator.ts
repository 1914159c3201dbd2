/** testing: a coordinator that assigns and revokes clusters as the test requests. */

import { RuntimeError } from '../../../errors.ts';
import type { Claim, Coordinator, Ownership } from '../../contract.ts';

export class TestCoordinator implements Coordinator {
  readonly claims = new Map<string, Claim>();
  leftMs = 10_000;
  readonly #held = new Map<string, AbortController>();
  #token = 0;

  follow({ name }: { name: string }, claim: Claim): () => void {
    this.claims.set(name, claim);
    return () => {
      this.claims.delete(name);
      this.#held.get(name)?.abort();
    };
  }

  give(name: string): Ownership {
    const held = new AbortController();
    this.#held.set(name, held);
    const ownership: Ownership = {
      token: ++this.#token,
      signal: held.signal,
      check: () => {
        if (held.signal.aborted || this.leftMs <= 0) throw new RuntimeError('Fenced', 'not ours');
      },
      remainingMs: () => this.leftMs,
    };
    this.claims.get(name)!.acquired(ownership);
    return ownership;
  }

  take(name: string): Promise<void> {
    this.#held.get(name)!.abort();
    return this.claims.get(name)!.released();
  }

  run(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }
}
