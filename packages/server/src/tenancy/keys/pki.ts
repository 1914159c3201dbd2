/** Issuing certificates, loaded when the first one is issued. */

import { createRequire } from 'node:module';
import type * as Pki from '@hangar/pki';
import { lazy } from '@hangar/core';

const require = createRequire(import.meta.url);

export const pki = lazy(() => require('@hangar/pki') as typeof Pki);
