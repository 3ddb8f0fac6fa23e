/** For `npx vitest` in this folder; `npm test` runs all projects. */
export { server as default } from '../.config/vitest.config.ts';
