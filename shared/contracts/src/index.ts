export * from './signin.ts';
