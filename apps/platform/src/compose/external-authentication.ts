/** Users that others know: OpenID Connect issuers of an AuthenticationConfiguration, and a webhook for tokens. */

import { readFile } from 'node:fs/promises';
import { systemClock } from '@hangar/core';
import { kubeconfigAccess, postToCluster } from '@hangar/server';
import type { AnonymousOptions, Outbound, TokenAuthenticator } from '@hangar/server';
import { UsageError } from '@hangar/core/command-line';
import type { AuthenticationOptions } from '../options/authentication.ts';
import type { FollowedFiles } from './followed-file.ts';

export interface ExternalAuthentication {
  readonly authenticators: readonly TokenAuthenticator[];
  /** Absent: not configured. */
  readonly anonymous: AnonymousOptions | undefined;
}

interface World {
  readonly outbound: Outbound;
  readonly files: FollowedFiles;
}

const timeoutMs = 10_000;
const documentBytesMax = 1024 * 1024;

export async function externalAuthentication(
  asked: AuthenticationOptions,
  world: World,
): Promise<ExternalAuthentication> {
  const configured = asked.configFile === undefined ? undefined : await issuers(asked.configFile, asked.issuers, world);
  const webhook = asked.webhookFile === undefined ? [] : [await tokenWebhook(asked.webhookFile, world.outbound)];
  return {
    authenticators: [...(configured ? [configured.authenticator] : []), ...webhook],
    anonymous: configured?.anonymous,
  };
}

/** Changes of issuers count while the server runs; whether anonymous requests are let in is settled at its start. */
async function issuers(file: string, own: readonly string[], { outbound, files }: World) {
  const text = await content('--authentication-config', file);
  // With the language of its expressions, which most servers never need.
  const { OidcAuthenticator, readAuthenticationConfiguration } = await import('@hangar/server/external-users');
  const configuration = usable(file, () => readAuthenticationConfiguration(text, own));
  const authenticator = new OidcAuthenticator({
    issuers: configuration.issuers,
    clock: systemClock,
    fetch: (url, ca) => document(outbound, url, ca),
  });
  files.follow([file], [text], ([changed]) => {
    authenticator.use(readAuthenticationConfiguration(changed!, own).issuers);
  });
  return { authenticator, anonymous: configuration.anonymous };
}

/** The administrator named the issuer: it may be anywhere. */
async function document(outbound: Outbound, url: string, ca: string | undefined): Promise<unknown> {
  const { status, body } = await outbound.request({ url, ca, timeoutMs, bytesMax: documentBytesMax, isTrusted: true });
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  return JSON.parse(Buffer.from(body).toString());
}

async function tokenWebhook(file: string, outbound: Outbound): Promise<TokenAuthenticator> {
  const { TokenWebhook } = await import('@hangar/server/external-users');
  const access = await kubeconfigAccess(file);
  return new TokenWebhook(async (review) => {
    const { body } = await postToCluster(outbound, access, JSON.stringify(review), {
      timeoutMs,
      bytesMax: documentBytesMax,
    });
    return JSON.parse(Buffer.from(body).toString()) as unknown;
  });
}

async function content(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

function usable<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`--authentication-config: ${file}: ${(error as Error).message}`, { cause: error });
  }
}
