/** Values that JSON has no type for, as Kubernetes writes them. */

/** `500m`, `1Gi`. Servers also take a number; what they answer is this. */
export type Quantity = string;
/** A port's number or name, a count or a percentage. */
export type IntOrString = number | string;
/** RFC 3339 in seconds: `2026-01-31T08:00:00Z`. */
export type Time = string;
/** RFC 3339 in microseconds: `2026-01-31T08:00:00.000000Z`. */
export type MicroTime = string;
/** `1h30m`. */
export type Duration = string;
/** In base64. */
export type Bytes = string;
/** Of any kind. */
export type JsonObject = Record<string, unknown>;
/** Anything that JSON can be. */
export type JsonValue = unknown;
