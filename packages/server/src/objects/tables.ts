/** Tables and partial metadata for kubectl: loaded on first use, not at startup. */

import { createRequire } from 'node:module';
import { lazy } from '@hangar/core';
import type * as Tables from '@hangar/api/tables';

const require = createRequire(import.meta.url);

export const tables = lazy(() => require('@hangar/api/tables') as typeof Tables);
