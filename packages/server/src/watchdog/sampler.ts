/**
 * Takes samples of the watched thread while its beat is late. The inspector session is open for that time only: it slows the watched
 * thread, and a process does not exit while one is open.
 */

import type { Session } from 'node:inspector';
import { sampleHook } from './contract.ts';
import type { Sample } from './contract.ts';

export type SamplerSession = Pick<Session, 'disconnect'> & {
  post(method: string, params: object, callback: (error: Error | null, answer?: object) => void): void;
};

export interface SamplerOptions {
  readonly connect: () => SamplerSession;
  readonly onSample: (sample: Sample) => void;
}

export class Sampler {
  readonly #options: SamplerOptions;
  #session: SamplerSession | undefined;
  #isAsking = false;

  constructor(options: SamplerOptions) {
    this.#options = options;
  }

  /** Called regularly. Requests one sample at a time, and closes the session when the beat is on time. */
  look(nowMs: number, isLate: boolean): void {
    if (!isLate) this.close();
    else if (!this.#isAsking) this.#ask(nowMs);
  }

  close(): void {
    this.#session?.disconnect();
    this.#session = undefined;
    this.#isAsking = false;
  }

  #ask(nowMs: number): void {
    this.#isAsking = true;
    const session = (this.#session ??= this.#options.connect());
    const expression = `globalThis[Symbol.for(${JSON.stringify(sampleHook)})]?.(${nowMs})`;
    session.post('Runtime.evaluate', { expression, returnByValue: true }, (_error, answer) => {
      if (session !== this.#session) return;
      this.#isAsking = false;
      const text = (answer as { result?: { value?: unknown } } | undefined)?.result?.value;
      if (typeof text === 'string') this.#options.onSample(JSON.parse(text) as Sample);
    });
  }
}
