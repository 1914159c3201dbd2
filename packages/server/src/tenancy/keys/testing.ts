/** Test helpers for certificates of tenants. */

import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { issueCertificate } from '@hangar/pki';
import type { CertificateRequest, KeyPair } from '@hangar/pki';
import { world } from '../../http/testing/test-port.ts';

export const dayMs = 86_400_000;

/** Returns the dependencies with the clock moved forward. */
export const later = (ms: number) => ({ ...world, clock: { ...systemClock, now: () => Date.now() + ms } as Clock });

export const client = (authority: KeyPair, request: Partial<CertificateRequest> = {}, at = world): KeyPair =>
  issueCertificate(
    authority,
    { commonName: 'admin', organizations: ['system:masters'], usage: 'client', days: 1, ...request },
    at,
  );
