/** Kubernetes' own conformance specs, inside a virtual control plane that is reached by its host name. */

process.env['HANGAR_CONFORMANCE_PLACE'] = 'tenant-host';
await import('../e2e/e2e.real.ts');
