/** The engine without other programs: the essential controllers, in this process. See README.md. */

export { essentialEngine } from './engine.ts';
export type { EssentialEngine, EssentialEngineOptions } from './engine.ts';
