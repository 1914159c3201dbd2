/** Routes: from a server name to the backends of a control plane. */

export interface Backend {
  readonly host: string;
  readonly port: number;
}

export interface Route {
  /** Identifies the route in limits, metrics and logs. Several server names can share one. */
  readonly name: string;
  /** Empty: connections are reset, as those to a Service without endpoints. */
  readonly backends: readonly Backend[];
}

/** Returns the route of a server name, which is in lower case and without a trailing dot. */
export type FindRoute = (serverName: string) => Route | undefined;
