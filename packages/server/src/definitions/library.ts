/** Modules for CustomResourceDefinitions, including CEL: loaded with the first definition, not at startup. */

import { createRequire } from 'node:module';
import { lazy } from '@hangar/core';
import type * as Crd from '@hangar/api/crd';

const require = createRequire(import.meta.url);

export const crd = lazy(() => require('@hangar/api/crd') as typeof Crd);
