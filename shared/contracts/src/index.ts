export * from './delegation.ts';
export * from './schemas.ts';
export * from './signin.ts';
