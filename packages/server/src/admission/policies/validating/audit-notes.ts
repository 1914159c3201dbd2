/** Audit annotations of policies, and failures that their bindings only record. */

import type { AdmissionRequest } from '../../admission.ts';
import type { Denial } from './evaluate.ts';

const valueBytesMax = 10 * 1024;

export class AuditNotes {
  readonly #request: AdmissionRequest;
  readonly #notes = new Map<string, Set<string>>();

  constructor(request: AdmissionRequest) {
    this.#request = request;
  }

  failed(policy: string, binding: string, validationActions: readonly string[], { index, message }: Denial): void {
    const failure = { message, policy, binding, expressionIndex: index, validationActions };
    this.#request.annotate('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure]));
  }

  /** Several parameters can produce several values of one key. */
  add(policy: string, key: string, value: string): void {
    const name = `${policy}/${key}`;
    let values = this.#notes.get(name);
    if (!values) this.#notes.set(name, (values = new Set()));
    values.add(clipped(value));
  }

  publish(): void {
    for (const [key, values] of this.#notes) this.#request.annotate(key, [...values].join(', '));
  }
}

/** Cuts at a character boundary. */
function clipped(value: string): string {
  if (Buffer.byteLength(value) <= valueBytesMax) return value;
  const { read } = new TextEncoder().encodeInto(value, new Uint8Array(valueBytesMax));
  return value.slice(0, read);
}
