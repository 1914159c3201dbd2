/** Loads the PKI package when the first certificate is issued. */

import { createRequire } from 'node:module';
import type * as Pki from '@hangar/pki';
import { lazy } from '@hangar/core';

const require = createRequire(import.meta.url);

export const pki = lazy(() => require('@hangar/pki') as typeof Pki);
