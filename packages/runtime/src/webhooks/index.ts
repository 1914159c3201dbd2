/**
 * Admission and conversion webhooks. Create hooks with `validating`, `mutating`, `defaulting` or `conversion`, and register them with a
 * `WebhookServer`. `install` creates the webhook configurations in the cluster.
 *
 *     const server = new WebhookServer({ certificates: certificateFolder('/tmp/certs') });
 *     server.register(
 *       validating(Widget, {
 *         create: ({ object }) => {
 *           if (object.spec.size > 10) throw denied('spec.size must not be greater than 10');
 *         },
 *       }),
 *     );
 *
 *   certificates/  sources of the serving certificate and their reload
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
