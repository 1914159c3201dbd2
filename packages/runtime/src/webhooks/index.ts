/**
 * Admission and conversion webhooks. A hook is made by `validating`, `mutating`, `defaulting` or `conversion` and registered with a
 * `WebhookServer`, which serves it, and says by `configurations` how an API server must be told of it.
 *
 *   certificates/  where the server's certificate comes from, and how it is reloaded
 */

export { defaulting, mutating, validating } from './admission.ts';
export type {
  AdmissionHook,
  Asked,
  AskedToConnect,
  AskedToCreate,
  AskedToDelete,
  AskedToUpdate,
  Mutate,
  ValidatingHandlers,
  Verdict,
} from './admission.ts';
export { certificateFolder } from './certificates/folder.ts';
export type { CertificateFolderOptions } from './certificates/folder.ts';
export type { CertificateObserver, CertificatePair, Certificates } from './certificates/contract.ts';
export { configurations, install } from './configurations.ts';
export type { ConfigurationOptions, Configurations, InstallOptions } from './configurations.ts';
export { conversion } from './conversion.ts';
export type { Conversion, ConversionOptions, ConversionTarget, Spoke } from './conversion.ts';
export { denied, DeniedError } from './denied.ts';
export type { DeniedOptions } from './denied.ts';
export type { RawHandler, WebhookAnswer, WebhookRequest } from './endpoint.ts';
export type { HookOptions } from './hook-options.ts';
export { jsonDifferences } from './json-differences.ts';
export type { JsonOperation } from './json-differences.ts';
export type { AdmissionOperation, AdmissionRequest } from './review.ts';
export type { WebhookServerOptions } from './server-options.ts';
export { WebhookServer } from './webhook-server.ts';
