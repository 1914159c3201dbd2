/**
 * The address of a cluster and the credentials for it, read from a kubeconfig, a pod or a cluster provider. Plain values, except the
 * credentials, which are queried for each connection and request, because tokens and certificates are rotated.
 */

/** Address of a cluster and the credentials for it. */
export interface ClusterConfig {
  /** URL of the server: `https://host:port`, with the path prefix of the cluster if it has one, without a trailing slash. */
  readonly server: string;
  /** Certificate authority of the server, in PEM. Absent: the authorities that the system trusts. */
  readonly ca?: string | undefined;
  /** Returns the current certificate authority for each new connection, if it can be rotated. Absent: `ca`. */
  readonly renewedCa?: (() => Promise<string>) | undefined;
  /** Name that the certificate of the server must have. Absent: the host in `server`. */
  readonly serverName?: string | undefined;
  /** Accepts any certificate of the server. */
  readonly isInsecure?: boolean | undefined;
  /** URL of a proxy: `http://`, `https://` or `socks5://`. Absent: the proxy of the environment. */
  readonly proxyUrl?: string | undefined;
  readonly disableCompression?: boolean | undefined;
  /** User to impersonate. The credentials need the permission `impersonate`. */
  readonly impersonate?: Impersonation | undefined;
  /** Credentials of the client. Absent: anonymous. */
  readonly credentials?: Credentials | undefined;
  /** Default namespace of the kubeconfig context. */
  readonly namespace?: string | undefined;
}

/** A user to impersonate, as in `kubectl --as`. */
export interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[] | undefined;
  readonly uid?: string | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A client certificate and its private key, both in PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/**
 * Supplies the credentials of a client. All methods reject with `CredentialsFailed` when no credentials are available, and all are
 * bounded in time.
 */
export interface Credentials {
  /** Returns the authentication headers of a request, with lower-case names. Called for each request; cheap unless a renewal is due. */
  headers(signal?: AbortSignal): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
  /** Returns the client certificate of a new connection. Returning the same object as before means the same certificate. */
  clientCertificate?(signal?: AbortSignal): Promise<ClientCertificate | undefined>;
  /** Called after status 401. Returns true if the credentials may have changed, so that a retry is useful. */
  refresh?(signal?: AbortSignal): Promise<boolean>;
  /** Identifies the credentials without being a secret, for `fingerprintOf`. */
  readonly fingerprint?: string | undefined;
}
