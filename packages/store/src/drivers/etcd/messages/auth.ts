/** etcdserverpb.Auth: tokens, users, roles and permissions. */
import { bytesField, MessageReader, MessageWriter, uintField } from '@hangar/http2/grpc';

export const authenticateMethod = '/etcdserverpb.Auth/Authenticate';

export const authMethods = {
  status: '/etcdserverpb.Auth/AuthStatus',
  enable: '/etcdserverpb.Auth/AuthEnable',
  disable: '/etcdserverpb.Auth/AuthDisable',
  userGet: '/etcdserverpb.Auth/UserGet',
  userAdd: '/etcdserverpb.Auth/UserAdd',
  userGrantRole: '/etcdserverpb.Auth/UserGrantRole',
  userRevokeRole: '/etcdserverpb.Auth/UserRevokeRole',
  roleGet: '/etcdserverpb.Auth/RoleGet',
  roleAdd: '/etcdserverpb.Auth/RoleAdd',
  roleGrantPermission: '/etcdserverpb.Auth/RoleGrantPermission',
  roleRevokePermission: '/etcdserverpb.Auth/RoleRevokePermission',
} as const;

/** Texts of the errors that say that a change has happened already, or that there is nothing to read. */
export const authErrors = {
  userExists: 'etcdserver: user name already exists',
  userNotFound: 'etcdserver: user name not found',
  roleExists: 'etcdserver: role name already exists',
  roleNotFound: 'etcdserver: role name not found',
  roleNotGranted: 'etcdserver: role is not granted to the user',
  permissionNotGranted: 'etcdserver: permission is not granted to the role',
} as const;

export interface Permission {
  readonly type: 'read' | 'write' | 'readwrite';
  /** Keys from `start` to `end`. An empty end: only this key. The end `\0`: to the last key. */
  readonly start: string;
  readonly end: string;
}

const permissionTypes = ['read', 'write', 'readwrite'] as const;

export function encodeAuthenticate(username: string, password: string): Buffer {
  return new MessageWriter().string(2, password).string(1, username).finishFrame();
}

export function decodeToken(message: Buffer): string {
  const reader = new MessageReader(message);
  let token = '';
  while (reader.at < message.length) {
    if (reader.tag() === bytesField(2)) token = reader.string();
    else reader.skip();
  }
  return token;
}

export function decodeAuthStatus(message: Buffer): { readonly enabled: boolean } {
  const reader = new MessageReader(message);
  let enabled = false;
  while (reader.at < message.length) {
    if (reader.tag() === uintField(2)) enabled = reader.flag();
    else reader.skip();
  }
  return { enabled };
}

/** For UserGet, RoleGet and RoleAdd. */
export const encodeName = (name: string): Buffer => new MessageWriter().string(1, name).finishFrame();

/** A user without a password is authenticated only by the common name of its certificate. */
export const encodeUserAdd = (name: string): Buffer =>
  new MessageWriter()
    .message(3, (options) => options.flag(1, true))
    .string(1, name)
    .finishFrame();

/** For UserGrantRole and UserRevokeRole. */
export const encodeUserRole = (user: string, role: string): Buffer =>
  new MessageWriter().string(2, role).string(1, user).finishFrame();

export const encodeRoleGrant = (role: string, { type, start, end }: Permission): Buffer =>
  new MessageWriter()
    .message(2, (permission) => permission.string(3, end).string(2, start).uint(1, permissionTypes.indexOf(type)))
    .string(1, role)
    .finishFrame();

export const encodeRoleRevoke = (role: string, { start, end }: Permission): Buffer =>
  new MessageWriter().string(3, end).string(2, start).string(1, role).finishFrame();

/** Roles of a user. */
export function decodeUser(message: Buffer): string[] {
  const reader = new MessageReader(message);
  const roles: string[] = [];
  while (reader.at < message.length) {
    if (reader.tag() === bytesField(2)) roles.push(reader.string());
    else reader.skip();
  }
  return roles;
}

/** Permissions of a role. */
export function decodeRole(message: Buffer): Permission[] {
  const reader = new MessageReader(message);
  const permissions: Permission[] = [];
  while (reader.at < message.length) {
    if (reader.tag() === bytesField(2)) permissions.push(readPermission(reader));
    else reader.skip();
  }
  return permissions;
}

function readPermission(reader: MessageReader): Permission {
  const last = reader.end();
  let [type, start, end]: [Permission['type'], string, string] = ['read', '', ''];
  while (reader.at < last) {
    const tag = reader.tag();
    // A type of a newer etcd: it allows more than reading.
    if (tag === uintField(1)) type = permissionTypes[reader.uint()] ?? 'readwrite';
    else if (tag === bytesField(2)) start = reader.string();
    else if (tag === bytesField(3)) end = reader.string();
    else reader.skip();
  }
  return { type, start, end };
}
