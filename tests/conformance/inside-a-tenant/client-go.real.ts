/** Every client-go check, inside a virtual control plane: the same suite, the same outcome. */

process.env['HANGAR_CONFORMANCE_PLACE'] = 'tenant';
await import('../client-go/client-go.real.ts');
