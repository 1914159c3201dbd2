/** Destination of audit events. */

export interface AuditSink {
  /** Writes one event, as JSON. Never throws, never blocks. */
  write(event: string): void;
  /** Resolves when all events are written or dropped. */
  close(): Promise<void>;
}
