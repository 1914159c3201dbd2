/**
 * Authenticates bootstrap tokens of new nodes: `id.secret`, stored in the secret `bootstrap-token-<id>` in kube-system. The user can only
 * be in bootstrap groups, regardless of the contents of the secret.
 */

import { timingSafeEqual } from 'node:crypto';
import { parseTime } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import { find } from '../service-accounts/lookup.ts';
import type { TokenAuthenticator, TokenIdentity } from '../tokens.ts';

const form = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

/** Returns the name of the secret for such a token; undefined if the format does not match. */
export function bootstrapSecretOf(token: string): string | undefined {
  const id = form.exec(token)?.[1];
  return id === undefined ? undefined : `bootstrap-token-${id}`;
}
const everybodysGroup = 'system:bootstrappers';
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

export class BootstrapTokenAuthenticator implements TokenAuthenticator {
  readonly #plane: ControlPlane;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
  }

  authenticateToken(token: string): undefined | Promise<TokenIdentity | undefined> {
    const [, id, secret] = form.exec(token) ?? [];
    return id === undefined || secret === undefined ? undefined : this.#identify(id, secret);
  }

  async #identify(id: string, secret: string): Promise<TokenIdentity | undefined> {
    const found = await find(this.#plane, 'secrets', 'kube-system', `bootstrap-token-${id}`);
    if (!found || !isBootstrapToken(found.object)) return undefined;
    const data = dataOf(found.object);
    if (!isSame(data('token-secret'), secret) || data('token-id') !== id) return undefined;
    if (data('usage-bootstrap-authentication') !== 'true') return undefined;
    const expiresAt = expiryOf(data('expiration'));
    const groups = groupsOf(data('auth-extra-groups'));
    if (!groups || expiresAt <= this.#plane.clock.now()) return undefined;
    return {
      user: { name: `system:bootstrap:${id}`, uid: '', groups, extra: {} },
      expiresAt,
      isCurrent: () => found.isUnchanged(),
    };
  }
}

const isBootstrapToken = (secret: KubeObject): boolean =>
  secret['type'] === 'bootstrap.kubernetes.io/token' && secret.metadata.deletionTimestamp === undefined;

/** The returned function returns an empty string for a missing key. */
function dataOf(secret: KubeObject): (key: string) => string {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  return (key) => (Object.hasOwn(data, key) ? Buffer.from(data[key]!, 'base64').toString() : '');
}

function isSame(kept: string, shown: string): boolean {
  const [a, b] = [Buffer.from(kept), Buffer.from(shown)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** An invalid time counts as expired. */
function expiryOf(text: string): number {
  if (text === '') return Infinity;
  try {
    return parseTime(text, 'second').seconds * 1_000;
  } catch {
    return -Infinity;
  }
}

/** Returns undefined if one of the groups is not a bootstrap group. */
function groupsOf(text: string): string[] | undefined {
  const more = text === '' ? [] : text.split(',');
  if (!more.every((group) => groupForm.test(group))) return undefined;
  return [...new Set([everybodysGroup, ...more])].sort();
}
