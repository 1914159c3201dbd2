/** Destination of audit events. */

export interface AuditSink {
  /**
   * Writes one event, as JSON. Never throws, never blocks. A sink without space for the event can write the event without its objects
   * instead; `withoutObjects` must be called at once. Absent: the event has no objects.
   */
  write(event: string, withoutObjects?: () => string): void;
  /** Resolves when all events are written or dropped. */
  close(): Promise<void>;
}
