/**
 * The name of every tenant's CA, and how clients learn that it is welcome here. A server that asks for a client certificate
 * names the CAs that it knows, and many clients (Go's TLS, Java, Windows; not kubectl, curl and Node) show nothing that comes
 * from another one. So all tenants' CAs have one name, which tells nobody who the others are, and the port names it.
 */

export const tenantAuthorityName = 'hangar-tenant-ca';

/**
 * TLS of Node names exactly those CAs that it trusts. So it is given one that nobody can use: its time was over in 1970, it is
 * no CA, may sign no certificate, has no signature, and nobody has its key. The public key is a point that was found by hashing: its x
 * is the SHA-256 of `hangar: a name and no authority 3`.
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
