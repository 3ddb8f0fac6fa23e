/** For `npx vitest` in this folder; `npm test` runs all projects. */
export { packages as default } from '../.config/vitest.config.ts';
