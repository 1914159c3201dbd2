/** Restores of HostedControlPlanes: the parts that run in pods with the volume of an etcd member. */

export { activateVolume, cleanVolume, MemberVolumeError, revertVolume, verifyVolume } from './member-volume.ts';
export type { ExpectedContent, MemberVolume } from './member-volume.ts';
export { receiveSnapshot, TransferError } from './transfer.ts';
export type { ReceiveOptions, TlsFiles } from './transfer.ts';
