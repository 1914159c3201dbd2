/**
 * The common part of both policy plugins. Without policies, the usual case, a write costs one check of an empty list; CEL and the
 * evaluation are loaded with the first request that a policy may match.
 */

import type { ControlPlane } from '../../control-plane.ts';
import type { AdmissionRequest } from '../admission.ts';
import { attributesOf } from './attributes.ts';
import type { Attributes } from './attributes.ts';
import { isExempt } from './exemptions.ts';
import { candidates, select } from './selection.ts';
import type { Selection } from './selection.ts';
import { PolicySource } from './source.ts';
import type { BoundPolicy, SourceOptions } from './source.ts';

export type Dispatch<Compiled> = (selection: Selection<Compiled>, attributes: Attributes) => Promise<void>;

export class PolicyGate<Compiled> {
  readonly #plane: ControlPlane;
  readonly #source: PolicySource<Compiled>;

  constructor(plane: ControlPlane, options: SourceOptions<Compiled>) {
    this.#plane = plane;
    this.#source = new PolicySource(plane, options);
  }

  admit(request: AdmissionRequest, dispatch: Dispatch<Compiled>): void | Promise<void> {
    const bound = this.#source.current;
    if (bound) return bound.length === 0 ? undefined : this.#put(request, bound, dispatch);
    return this.#source.ready().then((read) => this.#put(request, read, dispatch));
  }

  #put(
    request: AdmissionRequest,
    bound: readonly BoundPolicy<Compiled>[],
    dispatch: Dispatch<Compiled>,
  ): void | Promise<void> {
    if (bound.length === 0 || isExempt(request)) return undefined;
    const attributes = attributesOf(request);
    const found = candidates(bound, attributes);
    if (found.length === 0) return undefined;
    return select(found, attributes, this.#plane).then(async (selection) => {
      if (selection.invocations.length + selection.failures.length === 0) return;
      await dispatch(selection, attributes);
    });
  }

  close(): void {
    this.#source.close();
  }
}
