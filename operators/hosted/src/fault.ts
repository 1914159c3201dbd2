/** A fault that a user or another system must fix. It becomes a condition. */

export interface Fault {
  /** In CamelCase. */
  readonly reason: string;
  /** Names the object, the problem and what to do. */
  readonly message: string;
}

export const isFault = (value: unknown): value is Fault =>
  typeof value === 'object' && value !== null && 'reason' in value && 'message' in value;
