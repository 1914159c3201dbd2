/** Where audit events go. */

export interface AuditSink {
  /** One event, as JSON. Never throws, never waits. */
  write(event: string): void;
  /** Resolves when everything that was written is out, or it is given up. */
  close(): Promise<void>;
}
