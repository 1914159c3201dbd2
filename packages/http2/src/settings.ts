/** SETTINGS, ours and theirs (RFC 9113, 6.5). */

import { ConnectionError } from './errors.ts';
import { frame } from './frames.ts';
import { errorCode, frameBytesLimit, frameBytesMin, frameType, setting, windowMax } from './protocol.ts';

const entryBytes = 6;

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.allocUnsafe(settings.length * entryBytes);
  for (const [at, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, at * entryBytes);
    payload.writeUInt32BE(value, at * entryBytes + 2);
  }
  return frame(frameType.settings, 0, 0, payload);
}

/** Calls with each setting, in order, once it is known to have an allowed value. */
export function readSettings(
  bytes: Buffer,
  start: number,
  end: number,
  onSetting: (id: number, value: number) => void,
): void {
  if ((end - start) % entryBytes !== 0)
    throw new ConnectionError(errorCode.frameSize, 'SETTINGS has an invalid length');
  for (let at = start; at < end; at += entryBytes) {
    const id = bytes.readUInt16BE(at);
    const value = bytes.readUInt32BE(at + 2);
    check(id, value);
    onSetting(id, value);
  }
}

function check(id: number, value: number): void {
  if (id === setting.enablePush && value > 1) {
    throw new ConnectionError(errorCode.protocol, 'SETTINGS_ENABLE_PUSH is neither 0 nor 1');
  }
  if (id === setting.initialWindowSize && value > windowMax) {
    throw new ConnectionError(errorCode.flowControl, 'SETTINGS_INITIAL_WINDOW_SIZE is too large');
  }
  if (id === setting.maxFrameSize && (value < frameBytesMin || value > frameBytesLimit)) {
    throw new ConnectionError(errorCode.protocol, 'SETTINGS_MAX_FRAME_SIZE is out of range');
  }
}
