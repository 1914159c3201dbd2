/** State of a server that becomes known while it starts. */
export interface ServerState {
  /** Everything stored is served. */
  isStarted: boolean;
  isReady: boolean;
  /** Set as soon as the port listens. */
  port: number;
  url: string;
}
