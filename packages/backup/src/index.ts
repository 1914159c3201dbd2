export * from './errors.ts';
export * from './format/index.ts';
