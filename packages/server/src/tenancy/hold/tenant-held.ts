/** Thrown when a tenant is opened while a migration holds it. */

import { CodedError } from '@hangar/core';
import type { Revision } from '@hangar/store';

export class TenantHeld extends CodedError<'TenantHeld'> {
  /** Revision of the identity. */
  readonly revision: Revision;

  constructor(path: string, revision: Revision) {
    super('TenantHeld', `a migration holds control plane "${path}"`);
    this.revision = revision;
  }
}
