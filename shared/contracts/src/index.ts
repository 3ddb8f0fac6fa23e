export * from './delegation.ts';
export * from './signin.ts';
