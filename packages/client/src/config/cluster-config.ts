/**
 * How to reach a cluster and who to be there: what a kubeconfig, a pod or a provider of clusters comes down to. Plain values; only
 * credentials are asked again for each connection or request, because tokens and certificates are renewed under way.
 */

export interface ClusterConfig {
  /** `https://host:port`, with the prefix of its paths when it has one, without a slash at its end. */
  readonly server: string;
  /** PEM. Absent: the authorities that the system trusts. */
  readonly ca?: string | undefined;
  /** For every new connection, where the authority can be renewed under way. Absent: `ca`. */
  readonly renewedCa?: (() => Promise<string>) | undefined;
  /** What the server's certificate must be for, when that is not the host in `server`. */
  readonly serverName?: string | undefined;
  /** Take any certificate. */
  readonly isInsecure?: boolean | undefined;
  /** `http://`, `https://` or `socks5://`. Absent: what the environment says, where a transport heeds that. */
  readonly proxyUrl?: string | undefined;
  readonly disableCompression?: boolean | undefined;
  /** Whom to act as, where the credentials' owner may. */
  readonly impersonate?: Impersonation | undefined;
  readonly credentials?: Credentials | undefined;
  /** Where a context's commands are about, when they do not say. */
  readonly namespace?: string | undefined;
}

export interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[] | undefined;
  readonly uid?: string | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** PEM, both. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Who asks. Every method rejects with `CredentialsFailed` when they cannot be had; none waits without an end. */
export interface Credentials {
  /** For every request, names in lower case: cheap, unless something is due to be renewed. */
  headers(signal?: AbortSignal): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
  /** For every new connection. The same object as before: the same certificate. */
  clientCertificate?(signal?: AbortSignal): Promise<ClientCertificate | undefined>;
  /** After a 401. True: there may be better ones now, so asking once again is worth it. */
  refresh?(signal?: AbortSignal): Promise<boolean>;
  /** What identifies them, without being a secret: for `fingerprintOf`. */
  readonly fingerprint?: string | undefined;
}
