/** Validates and compiles `spec.authentication` of a Tenant. */

import { createRequire } from 'node:module';
import { invalid } from '@hangar/api';
import type { FieldError } from '@hangar/api';
import { lazy } from '@hangar/core';
import type * as Oidc from '../../auth/oidc/index.ts';
import type { IssuerConfiguration } from '../../auth/oidc/configuration.ts';
import { isIssuerOf } from '../keys/issuers.ts';
import type { TenantAuthentication } from '../tenant.ts';
import { configurationBytesMax, issuersMax } from './limits.ts';

const require = createRequire(import.meta.url);
/** With the language of expressions, which most servers never need. */
export const oidc = lazy(() => require('../../auth/oidc/index.ts') as typeof Oidc);

const at = 'spec.authentication';

/** Throws AuthenticationConfigurationError. */
export const issuersOf = (path: string, { jwt }: TenantAuthentication): readonly IssuerConfiguration[] =>
  oidc().readIssuers(jwt, { at: `${at}.jwt`, issuersMax, isTaken: (url) => isIssuerOf(path, url) });

/** Returns why the configuration of the tenant with this path is invalid. */
export function authenticationProblem(path: string, authentication: TenantAuthentication): FieldError | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(authentication));
  if (bytes > configurationBytesMax) {
    return invalid(at, `${bytes} bytes`, `must not be larger than ${configurationBytesMax} bytes`);
  }
  try {
    issuersOf(path, authentication);
    return undefined;
  } catch (error) {
    if (!(error instanceof oidc().AuthenticationConfigurationError)) throw error;
    return invalid(error.field, valueAt(authentication, error.field), error.rule);
  }
}

/** Returns the value of the field for the error; null if it is absent or not a plain value. */
function valueAt(authentication: TenantAuthentication, field: string): string | number | boolean | null {
  const names = field.slice(at.length).match(/[^.[\]]+/g) ?? [];
  let value: unknown = authentication;
  for (const name of names) value = (value as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
