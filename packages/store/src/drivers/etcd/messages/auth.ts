/** etcdserverpb.Auth: a name and a password for a token. */
import { bytesField, MessageReader, MessageWriter } from '@hangar/http2/grpc';

export const authenticateMethod = '/etcdserverpb.Auth/Authenticate';

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
