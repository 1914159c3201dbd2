/** Tables and metadata for kubectl: loaded with the first one that is asked for, not with the server. */

import { createRequire } from 'node:module';
import { lazy } from '@hangar/core';
import type * as Tables from '@hangar/api/tables';

const require = createRequire(import.meta.url);

export const tables = lazy(() => require('@hangar/api/tables') as typeof Tables);
