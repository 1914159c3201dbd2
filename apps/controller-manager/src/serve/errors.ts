/** Errors of the status server. */

import { CodedError } from '@hangar/core';

export type ServeErrorCode =
  /** A certificate or its key is missing or unreadable, or they do not match. */
  | 'CertificateUnusable'
  /** The file with the bearer token is unreadable or empty. */
  | 'TokenUnusable'
  /** The scraped text is not in Prometheus' text format. */
  | 'MalformedMetrics'
  /** The answer of a process is too large. */
  | 'TooManyMetrics'
  /** The scrape of a process failed. */
  | 'ScrapeFailed';

export class ServeError extends CodedError<ServeErrorCode> {}
