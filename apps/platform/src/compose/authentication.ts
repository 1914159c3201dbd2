/** The authenticators of the root control plane, in kube-apiserver's order. */

import { readFile } from 'node:fs/promises';
import { systemClock } from '@hangar/core';
import {
  anonymousAccess,
  BootstrapTokenAuthenticator,
  CertificateAuthenticator,
  CertificateAuthorities,
  FrontProxyAuthenticator,
  LegacyTokenAuthenticator,
  ServiceAccountAuthenticator,
  ServiceAccounts,
  signingKeyOf,
  StaticTokenAuthenticator,
  verificationKeysOf,
} from '@hangar/server';
import type { ApiServerOptions, Authenticator, ControlPlane, Outbound, TokenAuthenticator } from '@hangar/server';
import { UsageError } from '@hangar/core/command-line';
import type { AuthenticationOptions, FrontProxyFlags } from '../options/authentication.ts';
import type { Credentials } from './credentials.ts';
import { externalAuthentication } from './external-authentication.ts';
import type { FollowedFiles } from './followed-file.ts';
import type { InsideUsers } from './inside-users.ts';
import type { PlatformOptions } from '../options/options.ts';
import { readTokens } from './tokens.ts';

export interface Authentication {
  /** CAs of users, and of front proxies if there are any. */
  readonly clientCas: string;
  /** CAs of users that the administrator configured besides our own; PEM, may be empty. */
  readonly givenCas: string;
  /** Replaces them; returns all CAs that the port has to trust then. Throws when they are invalid, or those of proxies. */
  useGivenCas(pem: string): string;
  /** Signs tokens of service accounts; PEM. */
  readonly signingKey: string;
  /** Options for the server. */
  of(plane: ControlPlane): Pick<ApiServerOptions, 'authenticators' | 'serviceAccounts' | 'anonymous'>;
}

/** Reads all files. Throws a UsageError when one of them is invalid. */
export async function authentication(
  options: PlatformOptions,
  credentials: Credentials,
  world: { readonly outbound: Outbound; readonly files: FollowedFiles; readonly inside?: InsideUsers },
): Promise<Authentication> {
  const { authentication: asked, tokenFile } = options;
  const signingKey = asked.signingKeyFile
    ? await read('--service-account-signing-key-file', asked.signingKeyFile)
    : credentials.serviceAccountKey;
  const serviceAccounts = await serviceAccountsOf(asked, signingKey);
  const { clientCaFile } = options.serving;
  const givenCas = clientCaFile === undefined ? '' : await read('--client-ca-file', clientCaFile);
  const usersCaWith = (given: string): string => bundle(credentials.authority.certificate, given);
  const usersCa = usersCaWith(givenCas);
  if (clientCaFile !== undefined) usable('--client-ca-file', () => new CertificateAuthorities(givenCas));
  const requests: Authenticator[] = world.inside ? [world.inside] : [];
  let proxiesCa = '';
  if (asked.frontProxy) {
    proxiesCa = await read('--requestheader-client-ca-file', asked.frontProxy.clientCaFile);
    requests.push(frontProxy(asked.frontProxy, proxiesCa, usersCa));
  }
  const certificates = new CertificateAuthenticator(systemClock, asked.frontProxy && usersCa);
  requests.push(certificates);
  const fixed: TokenAuthenticator[] = [];
  if (tokenFile !== undefined) {
    fixed.push(new StaticTokenAuthenticator(readTokens(await read('--token-file', tokenFile))));
  }
  const external = await externalAuthentication(asked, world);
  const anonymous = external.anonymous ?? (asked.anonymous === undefined ? undefined : { enabled: asked.anonymous });
  if (external.anonymous && asked.anonymous !== undefined) {
    throw new UsageError('--anonymous-auth and the field anonymous of --authentication-config are mutually exclusive');
  }
  return {
    clientCas: bundle(usersCa, proxiesCa),
    givenCas,
    signingKey,
    useGivenCas(pem) {
      void new CertificateAuthorities(pem);
      if (asked.frontProxy) checkProxies(asked.frontProxy, proxiesCa, usersCaWith(pem));
      certificates.use(usersCaWith(pem));
      return bundle(usersCaWith(pem), proxiesCa);
    },
    of: (plane) => ({
      authenticators: [
        ...requests,
        ...fixed,
        new LegacyTokenAuthenticator(plane, serviceAccounts),
        new ServiceAccountAuthenticator(plane, serviceAccounts),
        ...(asked.bootstrapTokens ? [new BootstrapTokenAuthenticator(plane)] : []),
        ...external.authenticators,
      ],
      serviceAccounts,
      ...(anonymous === undefined ? {} : { anonymous: anonymousAccess(anonymous) }),
    }),
  };
}

async function serviceAccountsOf(asked: AuthenticationOptions, signing: string): Promise<ServiceAccounts> {
  const others = await Promise.all(asked.keyFiles.map((file) => read('--service-account-key-file', file)));
  return usable('service account keys', () => {
    const verificationKeys = [...others, signing].flatMap(verificationKeysOf);
    return new ServiceAccounts({
      issuers: asked.issuers,
      audiences: asked.audiences,
      signingKey: signingKeyOf(signing),
      verificationKeys,
      expirationSecondsMax: asked.tokenSecondsMax,
      extendsExpiration: asked.extendsTokens,
      ...(asked.jwksUri === undefined ? {} : { jwksUri: asked.jwksUri }),
    });
  });
}

function frontProxy(flags: FrontProxyFlags, authorities: string, usersCa: string): FrontProxyAuthenticator {
  checkProxies(flags, authorities, usersCa);
  return usable(
    '--requestheader-client-ca-file',
    () => new FrontProxyAuthenticator(systemClock, { ...flags, authorities }),
  );
}

/** Otherwise every user would be a proxy, and could impersonate any user. */
function checkProxies(flags: FrontProxyFlags, authorities: string, usersCa: string): void {
  const ofUsers = certificatesOf(usersCa);
  const isShared = certificatesOf(authorities).some((one) => ofUsers.includes(one));
  if (isShared && flags.allowedNames.length === 0) {
    throw new UsageError(
      '--requestheader-client-ca-file also has a CA of users: set --requestheader-allowed-names to the names of the proxies',
    );
  }
}

const certificatesOf = (pem: string): string[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+/g) ?? []).map((one) => one.replaceAll(/\s/g, ''));

async function read(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

function usable<T>(what: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new UsageError(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

/** Joins PEM bundles; some may be empty. */
const bundle = (...all: readonly string[]): string => all.filter((pem) => pem !== '').join('\n');
