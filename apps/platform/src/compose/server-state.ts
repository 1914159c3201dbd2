/** What becomes known of a server while it starts, for those who are asked about it later. */
export interface ServerState {
  /** Everything that was stored is served. */
  isStarted: boolean;
  isReady: boolean;
  /** Of the port, as soon as it listens. */
  port: number;
  url: string;
}
