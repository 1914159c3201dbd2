/** Admission and conversion webhooks. */

export type Webhooks = object;
