/** The flags of authentication, named as in kube-apiserver. */

import { parseDuration } from '@hangar/api';
import { UsageError } from '@hangar/core/command-line';
import type { HelpGroup } from '@hangar/core/command-line';

export interface AuthenticationOptions {
  /** The first issues tokens, all of them are accepted. */
  readonly issuers: readonly string[];
  /** Empty: the issuers. */
  readonly audiences: readonly string[];
  /** Absent: one that is created at the first start. */
  readonly signingKeyFile: string | undefined;
  /** Besides the signing key. */
  readonly keyFiles: readonly string[];
  readonly jwksUri: string | undefined;
  /** 0: no limit. */
  readonly tokenSecondsMax: number;
  readonly extendsTokens: boolean;
  /** Absent: for health and version only. */
  readonly anonymous: boolean | undefined;
  readonly bootstrapTokens: boolean;
  readonly frontProxy: FrontProxyFlags | undefined;
  /** kube-apiserver's AuthenticationConfiguration. */
  readonly configFile: string | undefined;
  /** A kubeconfig of a webhook that reviews tokens. */
  readonly webhookFile: string | undefined;
}

export interface FrontProxyFlags {
  readonly clientCaFile: string;
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

const text = { type: 'string' } as const;
const repeated = { type: 'string', multiple: true } as const;

export const authenticationFlags = {
  'service-account-issuer': repeated,
  'service-account-key-file': repeated,
  'service-account-signing-key-file': text,
  'service-account-jwks-uri': text,
  'service-account-max-token-expiration': text,
  'service-account-extend-token-expiration': text,
  'api-audiences': repeated,
  'authentication-config': text,
  'authentication-token-webhook-config-file': text,
  'anonymous-auth': text,
  'enable-bootstrap-token-auth': text,
  'requestheader-client-ca-file': text,
  'requestheader-allowed-names': repeated,
  'requestheader-username-headers': repeated,
  'requestheader-uid-headers': repeated,
  'requestheader-group-headers': repeated,
  'requestheader-extra-headers-prefix': repeated,
} as const;

export const authenticationHelp: HelpGroup = {
  title: 'Authentication',
  rows: [
    ['--client-ca-file FILE', 'CAs of client certificates, in addition to the CA of Hangar; reloaded when it changes'],
    ['--token-file FILE', 'static bearer tokens, one per line: token,user,uid,"group,group"'],
    [
      '--anonymous-auth true|false',
      'allow anonymous requests, as user system:anonymous, to all endpoints or to none (default: only health and version)',
    ],
    [
      '--authentication-config FILE',
      'AuthenticationConfiguration: OpenID Connect issuers, reloaded when the file changes, and the endpoints that allow anonymous requests',
    ],
    [
      '--authentication-token-webhook-config-file FILE',
      'kubeconfig of the webhook that authenticates all other bearer tokens',
    ],
    ['--enable-bootstrap-token-auth true|false', 'accept the bootstrap tokens in kube-system (default: true)'],
    [
      '--api-audiences NAMES',
      'audiences of service account tokens for this API (default: the service account issuers)',
    ],
    [
      '--service-account-issuer URL',
      'issuer of service account tokens; may be repeated: the first one issues tokens, all are accepted (default: https://kubernetes.default.svc.cluster.local)',
    ],
    [
      '--service-account-signing-key-file FILE',
      'private key that signs service account tokens (default: DIR/pki/sa.key, created at the first start)',
    ],
    [
      '--service-account-key-file FILE',
      'additional key that verifies service account tokens, such as a previous one; may be repeated',
    ],
    ['--service-account-jwks-uri URL', 'URL of the JSON Web Key Set, if this server does not serve it'],
    ['--service-account-max-token-expiration DURATION', 'maximum lifetime of requested tokens, such as 24h'],
    [
      '--service-account-extend-token-expiration true|false',
      'extend the lifetime of tokens of pods to one year (default: true)',
    ],
    [
      '--requestheader-client-ca-file FILE',
      'CAs of client certificates of front proxies, whose request headers identify the user',
    ],
    ['--requestheader-allowed-names NAMES', 'allowed common names of these client certificates (default: any)'],
    ['--requestheader-username-headers NAMES', 'request headers with the user name (default: X-Remote-User)'],
    ['--requestheader-uid-headers NAMES', 'request headers with the UID of the user (default: X-Remote-Uid)'],
    ['--requestheader-group-headers NAMES', 'request headers with the groups (default: X-Remote-Group)'],
    [
      '--requestheader-extra-headers-prefix NAMES',
      'prefixes of request headers with extra attributes (default: X-Remote-Extra-)',
    ],
  ],
};

type Values = {
  readonly [Name in keyof typeof authenticationFlags]?:
    | ((typeof authenticationFlags)[Name] extends { multiple: true } ? string[] : string)
    | undefined;
};

export function authenticationOptions(values: Values): AuthenticationOptions {
  const issuers = values['service-account-issuer'] ?? ['https://kubernetes.default.svc.cluster.local'];
  for (const [at, issuer] of issuers.entries()) {
    if (issuer === '') throw new UsageError('--service-account-issuer should not be an empty string');
    if (issuer.includes(':') && !URL.canParse(issuer)) {
      throw new UsageError(`--service-account-issuer "${issuer}" contained a ':' but was not a valid URL`);
    }
    if (issuers.indexOf(issuer) < at) throw new UsageError(`--service-account-issuer "${issuer}" is already specified`);
  }
  return {
    issuers,
    audiences: listed(values['api-audiences']) ?? [],
    signingKeyFile: values['service-account-signing-key-file'],
    keyFiles: values['service-account-key-file'] ?? [],
    jwksUri: httpsUrl('service-account-jwks-uri', values['service-account-jwks-uri']),
    tokenSecondsMax: tokenSecondsMax(values['service-account-max-token-expiration']),
    extendsTokens: flag(values, 'service-account-extend-token-expiration') ?? true,
    anonymous: flag(values, 'anonymous-auth'),
    bootstrapTokens: flag(values, 'enable-bootstrap-token-auth') ?? true,
    frontProxy: frontProxy(values),
    configFile: values['authentication-config'],
    webhookFile: values['authentication-token-webhook-config-file'],
  };
}

function frontProxy(values: Values): FrontProxyFlags | undefined {
  const clientCaFile = values['requestheader-client-ca-file'];
  if (clientCaFile === undefined) {
    const useless = Object.entries(values).find(([name, given]) => name.startsWith('requestheader-') && given);
    if (useless) throw new UsageError(`--${useless[0]} requires --requestheader-client-ca-file`);
    return undefined;
  }
  return {
    clientCaFile,
    allowedNames: listed(values['requestheader-allowed-names']) ?? [],
    usernameHeaders: listed(values['requestheader-username-headers']) ?? ['X-Remote-User'],
    uidHeaders: listed(values['requestheader-uid-headers']) ?? ['X-Remote-Uid'],
    groupHeaders: listed(values['requestheader-group-headers']) ?? ['X-Remote-Group'],
    extraHeaderPrefixes: listed(values['requestheader-extra-headers-prefix']) ?? ['X-Remote-Extra-'],
  };
}

/** Repeated, or separated by commas. An empty name would match everything. */
function listed(given: readonly string[] | undefined): string[] | undefined {
  const all = given?.flatMap((one) => one.split(',').map((part) => part.trim()));
  if (all?.includes('')) throw new UsageError('the list of names has an empty name');
  return all;
}

function flag(values: Values, name: keyof Values): boolean | undefined {
  const given = values[name];
  if (given === undefined) return undefined;
  if (given === 'true' || given === 'false') return given === 'true';
  throw new UsageError(`--${name}: "${String(given)}" must be true or false`);
}

function httpsUrl(name: string, given: string | undefined): string | undefined {
  if (given === undefined || URL.parse(given)?.protocol === 'https:') return given;
  throw new UsageError(`--${name} requires https scheme, parsed as: ${given}`);
}

const hourSeconds = 3_600;

function tokenSecondsMax(given: string | undefined): number {
  if (given === undefined) return 0;
  const name = '--service-account-max-token-expiration';
  let seconds;
  try {
    seconds = Number(parseDuration(given) / 1_000_000_000n);
  } catch (error) {
    throw new UsageError(`${name}: ${(error as Error).message}`, { cause: error });
  }
  if (seconds >= hourSeconds && seconds <= 2 ** 32) return seconds;
  throw new UsageError(`${name} must be between 1 hour and 2^32 seconds`);
}
