/**
 * Deletes obsolete requests for certificates: denied, failed and issued ones after an hour, pending or unsigned ones after a day, and those
 * whose certificate has expired. Each waits in the queue until it is due; kube-controller-manager lists all of them every hour.
 */

import { find } from '@hangar/client';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import type { Clock } from '@hangar/core';
import { expiresAt } from '@hangar/pki';
import type { Request, Result } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, ControllerWorld, FleetController, ResourceId } from '../contract.ts';
import { unlessOvertaken } from '../shared/refusals.ts';
import { isSigningRequest } from './change.ts';
import { isIssued } from './request.ts';

const hourMs = 3_600_000;
const decidedMs = hourMs;
const pendingMs = 24 * hourMs;

export class CsrCleanerController implements FleetController {
  readonly name = 'csr-cleaner';
  readonly #clock: Clock;

  constructor({ clock }: Pick<ControllerWorld, 'clock'>) {
    this.#clock = clock;
  }

  wants(id: ResourceId): boolean {
    return isSigningRequest(id);
  }

  changed(change: Change, ask: Ask): void {
    const { cluster, name, type } = change;
    if (type === 'delete') return;
    const leftMs = this.#leftMs(change.object() as unknown as CertificateSigningRequest);
    if (leftMs !== undefined) ask({ cluster, name }, { afterMs: leftMs });
  }

  async reconcile({ name }: Request, { client, signal }: ControllerContext): Promise<Result | void> {
    const csr = await find(client, CertificateSigningRequest, { name }, { signal });
    const leftMs = csr && this.#leftMs(csr);
    if (leftMs === undefined) return;
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    const { uid, resourceVersion } = csr!.metadata;
    const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
    const deletion = client.delete(CertificateSigningRequest, { name }, { preconditions, signal });
    // Decided concurrently: then it stays for a while.
    if (!(await unlessOvertaken(deletion))) return { requeue: true };
  }

  #leftMs(csr: CertificateSigningRequest): number | undefined {
    const endsMs = endOf(csr);
    return endsMs === undefined ? undefined : Math.max(endsMs - this.#clock.now(), 0);
  }
}

/** Returns the earliest time of deletion in milliseconds since 1970. Undefined: no rule applies. */
function endOf(csr: CertificateSigningRequest): number | undefined {
  const conditions = csr.status?.conditions ?? [];
  const ends = conditions.flatMap(({ type, lastUpdateTime }) => {
    const lifeMs = lifeOf(type, isIssued(csr));
    return lifeMs === undefined ? [] : [Date.parse(lastUpdateTime ?? '') + lifeMs];
  });
  if (conditions.length === 0) ends.push(Date.parse(csr.metadata.creationTimestamp ?? '') + pendingMs);
  if (isIssued(csr) && conditions.some(({ type }) => type === 'Approved')) ends.push(certificateEnd(csr));
  // Strictly longer ago than the limit.
  const known = ends.filter((one) => !Number.isNaN(one)).map((one) => one + 1);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Returns the time to keep it after the condition was written. */
function lifeOf(type: string, isSigned: boolean): number | undefined {
  if (type === 'Denied' || type === 'Failed') return decidedMs;
  if (type === 'Approved') return isSigned ? decidedMs : pendingMs;
  return undefined;
}

/** Returns NaN if it cannot be parsed. Other signers may have written anything. */
function certificateEnd({ status }: CertificateSigningRequest): number {
  try {
    return expiresAt(Buffer.from(status?.certificate ?? '', 'base64').toString());
  } catch {
    return Number.NaN;
  }
}
