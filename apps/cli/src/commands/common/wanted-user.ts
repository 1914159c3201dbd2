/** `--user`, `--group` and `--expires`: the user of a client certificate. */

import type { Given, OptionSpec } from '../../command.ts';
import type { WantedUser } from '../../control-planes/user-certificate.ts';
import { usage } from '../../errors.ts';
import { durationMs } from './timeout.ts';

export const userOptions: readonly OptionSpec[] = [
  { name: 'user', value: 'NAME', meaning: 'issue a client certificate for this user (default: the administrator)' },
  { name: 'group', value: 'NAMES', meaning: 'groups of the user, separated by commas' },
  { name: 'expires', value: 'TIME', meaning: 'lifetime of the certificate, from 10m to 8760h (default: 24h)' },
];

const defaultMs = 24 * 3_600_000;
/** Of a CertificateSigningRequest. */
const lifetimeMinMs = 600_000;

/** Returns undefined for the administrator. Throws `Usage`. */
export function wantedUser(given: Given): WantedUser | undefined {
  const user = given.text('user');
  const groups = (given.text('group') ?? '').split(',').filter((one) => one !== '');
  const lifetimeMs = durationMs('expires', given.text('expires'), { hoursMax: 8_760 }) ?? defaultMs;
  if (user === undefined) {
    for (const option of ['group', 'expires']) if (given.has(option)) throw usage(`--${option} requires --user`);
    return undefined;
  }
  if (user === '') throw usage('--user requires a name');
  if (lifetimeMs < lifetimeMinMs) throw usage('--expires must be at least 10m');
  return { user, groups, expirationSeconds: Math.floor(lifetimeMs / 1_000) };
}

/** Returns the options as words of a command line. */
export const userWords = ({ user, groups, expirationSeconds }: WantedUser): string[] => [
  `--user=${user}`,
  ...(groups.length > 0 ? [`--group=${groups.join(',')}`] : []),
  `--expires=${expirationSeconds}s`,
];
