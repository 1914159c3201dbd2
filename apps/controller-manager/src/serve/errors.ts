/** What serving refuses to begin with. */

import { CodedError } from '@hangar/core';

export type ServeErrorCode =
  /** A certificate or its key is missing, cannot be read, or they are not each other's. */
  | 'CertificateUnusable'
  /** The file with the bearer token cannot be read, or has none in it. */
  | 'TokenUnusable'
  /** What was scraped is not Prometheus' text format. */
  | 'MalformedMetrics'
  /** It is more than one process may answer with. */
  | 'TooManyMetrics'
  /** A process did not answer its scrape as it should. */
  | 'ScrapeFailed';

export class ServeError extends CodedError<ServeErrorCode> {}
