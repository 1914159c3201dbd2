/**
 * Signs approved requests for the built-in signers of Kubernetes, with the CA of their control plane: keys are looked up only by the
 * control plane of the request. A request that a signer rejects gets a condition with the reason.
 */

import { find } from '@hangar/client';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import type { CertificateSigningRequestCondition } from '@hangar/client/kinds/certificates-v1';
import type { Clock } from '@hangar/core';
import { PkiError, signRequest } from '@hangar/pki';
import type { RequestedCertificate } from '@hangar/pki';
import type { Request } from '@hangar/runtime';
import type {
  Ask,
  Change,
  ClusterKeys,
  ControllerContext,
  ControllerWorld,
  FleetController,
  ResourceId,
} from '../contract.ts';
import { unlessOvertaken } from '../shared/refusals.ts';
import { isSigningRequest } from './change.ts';
import { hasCondition, isIssued, requestedBy, usageNames } from './request.ts';
import { signers } from './signers.ts';
import { usagesOf } from './usages.ts';
import type { Usages } from './usages.ts';
import { validityOf } from './validity.ts';

type World = Pick<ControllerWorld, 'clock' | 'random' | 'keysOf'>;

interface Signable {
  readonly request: RequestedCertificate;
  readonly usages: Usages;
}

export class CsrSignerController implements FleetController {
  readonly name = 'csr-signer';
  readonly isHome = true;
  readonly #world: World;

  constructor({ clock, random, keysOf }: World) {
    this.#world = { clock, random, keysOf };
  }

  wants(id: ResourceId): boolean {
    return isSigningRequest(id);
  }

  changed(change: Change, ask: Ask): void {
    const { cluster, name, type } = change;
    if (type === 'put' && isToBeSigned(change.object() as unknown as CertificateSigningRequest)) ask({ cluster, name });
  }

  async reconcile({ cluster, name }: Request, { client, signal }: ControllerContext): Promise<void> {
    const csr = await find(client, CertificateSigningRequest, { name }, { signal });
    if (!csr || !isToBeSigned(csr)) return;
    const signable = signableOf(csr);
    const status =
      typeof signable === 'string'
        ? { ...csr.status, conditions: [...(csr.status?.conditions ?? []), failure(signable, this.#world.clock)] }
        : { ...csr.status, certificate: this.#signed(csr, signable, await this.#world.keysOf(cluster)) };
    await unlessOvertaken(client.status.update(CertificateSigningRequest, { ...csr, status }, { signal }));
  }

  /** Returns the certificate as base64 of PEM. */
  #signed({ spec }: CertificateSigningRequest, { request, usages }: Signable, { authority }: ClusterKeys): string {
    const validity = validityOf(spec.expirationSeconds, this.#world.clock.now());
    return Buffer.from(signRequest(authority, { request, ...usages, validity }, this.#world)).toString('base64');
  }
}

const isToBeSigned = (csr: CertificateSigningRequest): boolean =>
  signers.has(csr.spec.signerName) &&
  !isIssued(csr) &&
  hasCondition(csr, 'Approved') &&
  !hasCondition(csr, 'Denied') &&
  !hasCondition(csr, 'Failed');

/** Returns a text with the reason if it cannot be signed. */
function signableOf(csr: CertificateSigningRequest): Signable | string {
  let request: RequestedCertificate;
  try {
    request = requestedBy(csr);
  } catch (error) {
    if (error instanceof PkiError) return error.message;
    throw error;
  }
  const problem = signers.get(csr.spec.signerName)!(request, usageNames(csr));
  if (problem !== undefined) return problem;
  const usages = usagesOf(csr.spec.usages ?? []);
  return typeof usages === 'string' ? usages : { request, usages };
}

const failure = (message: string, clock: Clock): CertificateSigningRequestCondition => ({
  type: 'Failed',
  status: 'True',
  reason: 'SignerValidationFailure',
  message,
  lastUpdateTime: `${new Date(clock.now()).toISOString().slice(0, 19)}Z`,
});
