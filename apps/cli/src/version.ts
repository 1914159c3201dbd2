/** Of this program. */

import { readFileSync } from 'node:fs';
import { lazy } from '@hangar/core';

export const version = lazy((): string => {
  const file = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(file) as { readonly version: string }).version;
});
