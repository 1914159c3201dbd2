/**
 * `matchConditions`: expressions that decide whether a webhook is called. A false condition exempts the request; otherwise, a failing
 * condition counts as a failure of the webhook.
 */

import type { JsonObject, KubeObject } from '@hangar/api';
import type { AdmissionRequest } from '../admission.ts';
import type { CompiledConditions } from './compiled-conditions.ts';

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** Values of the expressions. */
export interface Seen {
  readonly request: AdmissionRequest;
  /** As in a review, without the objects. */
  readonly described: JsonObject;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
}

export class MatchConditions {
  readonly #conditions: readonly MatchCondition[];
  readonly #ignoresFailure: boolean;
  #compiled: CompiledConditions | undefined;

  constructor(conditions: readonly MatchCondition[], ignoresFailure: boolean) {
    this.#conditions = conditions;
    this.#ignoresFailure = ignoresFailure;
  }

  /** Rejects with an Error if the result is unknown and failures are not ignored. */
  async match(seen: Seen): Promise<boolean> {
    const compiled = this.#compiled ?? (await this.#load());
    return compiled.match(seen);
  }

  async #load(): Promise<CompiledConditions> {
    const library = await import('./compiled-conditions.ts');
    return (this.#compiled ??= new library.CompiledConditions(this.#conditions, this.#ignoresFailure));
  }
}
