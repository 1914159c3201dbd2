/**
 * Common name of all tenant CAs, and how the port announces it. A server that requests a client certificate lists the CAs that it accepts,
 * and many clients (Go's TLS, Java, Windows; not kubectl, curl and Node) send no certificate from another CA. So all tenant CAs share one
 * name, which reveals nothing about tenants, and the port lists it.
 */

export const tenantAuthorityName = 'hangar-tenant-ca';

/**
 * TLS of Node lists exactly the CAs that it trusts. So this certificate is added as one, and cannot be used: it expired in 1970, is not
 * marked as a CA, may not sign certificates, has no signature, and its private key does not exist. The public key is a point found by
 * hashing: its x is the SHA-256 of `hangar: a name and no authority 3`.
 */
export const advertisedTenantAuthority = `-----BEGIN CERTIFICATE-----
MIIBJTCCAQqgAwIBAgIBATAKBggqhkjOPQQDAjAbMRkwFwYDVQQDDBBoYW5nYXIt
dGVuYW50LWNhMB4XDTcwMDEwMTAwMDAwMFoXDTcwMDEwMTAwMDAwMFowGzEZMBcG
A1UEAwwQaGFuZ2FyLXRlbmFudC1jYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
BLwFZzu/gl8Cx2p8hKkkOHnduMFnmYgCawiHlvFRBqtPQxyTAEyknvHLYMPCesGv
VAuCk297e84OrF7F6d+/1ByjPzA9MAwGA1UdEwEB/wQCMAAwDgYDVR0PAQH/BAQD
AgZAMB0GA1UdDgQWBBQAAAAAAAAAAAAAAAAAAAAAAAAAADAKBggqhkjOPQQDAgMJ
ADAGAgEBAgEB
-----END CERTIFICATE-----
`;
