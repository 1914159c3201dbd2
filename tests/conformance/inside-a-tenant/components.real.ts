/** Kubernetes' own components, inside a virtual control plane: the same suite, the same outcome. */

process.env['HANGAR_CONFORMANCE_PLACE'] = 'tenant';
await import('../components/components.real.ts');
